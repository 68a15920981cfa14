import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EgressRules, HostNames, OutboundClient } from '@millrace/delivery'
import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import type { Run } from '@millrace/transformations'
import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import type { TestApiOptions, TestedDestination } from '../test-api-options.ts'
import { testApiRoutes } from './routes.ts'

/*
 * What the whole product cannot be brought to show: types that are not built yet, name servers of our own, and time that
 * a test lets pass (contracts/test-api.md §7, §13, §14 lines 8, 9, 19, 20, 24).
 */

const OWN = 'w3uLMicKvWtFGwbwBkUIwtP0l8l'
const MESSAGE = { type: 'track', event: 'Seat Reserved' }
const SEND = { stage: { send_to_destination: true }, message: MESSAGE }
const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface Setting {
  readonly destinations?: readonly Partial<TestedDestination>[]
  readonly modules?: readonly DestinationModule[]
  readonly client?: Partial<ConstructorParameters<typeof OutboundClient>[0]>
  readonly options?: Partial<TestApiOptions>
}

/** The routes on their own, for one source with the destinations given, called by an admin. */
async function open({ destinations = [], modules = [], client = {}, options = {} }: Setting): Promise<Api> {
  const clock = new ManualClock(Date.UTC(2026, 2, 4))
  const registry = new DestinationRegistry([...(await DestinationRegistry.load()).all(), ...modules])
  const all = destinations.map((each, n) => destinationOf(`d${n}`, each))
  const connections = all.map(({ id }) => ({ id: `c-${id}`, sourceId: 's1', destinationId: id, isEnabled: true }))
  const source = { id: 's1', name: 'Cinema app', type: 'Cordova', isEnabled: true }
  const app = fastify()
  await app.register(
    testApiRoutes({
      configuration: () => ({
        sources: new Map([['s1', source]]),
        destinations: new Map(all.map((each) => [each.id, each])),
        connections: new Map(connections.map((each) => [each.id, each])),
        connectionsOf: () => connections,
      }),
      destinationTypes: registry,
      sourceClass: () => 'cordova',
      userCode: { run: () => Promise.reject(new Error('there are no transformations')) },
      credentials: () => new Map(),
      newClient: () =>
        new OutboundClient({
          rules: new EgressRules({ allow: undefined, deny: undefined, listenHost: '127.0.0.1' }),
          clock,
          lookup: new HostNames({ clock }).forDestination(),
          ...client,
        }),
      authenticate: async () => ({ tokenId: 't1', role: 'admin', note: () => {} }),
      isFromDashboard: () => false,
      takeRequest: () => ({ isAllowed: true, headers: {} }),
      bodies: {
        read: async (payload) => Buffer.concat(await payload.toArray()),
        decode: async (body) => body,
        parse: (body) => JSON.parse(body.toString()) as JsonObject,
      },
      isReady: () => true,
      clock,
      version: '1.2.3',
      limits: { maxBodyBytes: 1_000_000, maxEventBytes: 0, concurrency: 16, timeoutMs: 60_000 },
      areDefinitionsOpen: false,
      logger: { error: () => {} },
      ...options,
    }),
  )
  endings.push(() => app.close())
  return new Api(app, clock)
}

class Api {
  readonly clock: ManualClock
  readonly #app: FastifyInstance

  constructor(app: FastifyInstance, clock: ManualClock) {
    this.#app = app
    this.clock = clock
  }

  async post(path: string, body: object = SEND) {
    const answer = await this.#app.inject({ method: 'POST', url: `/v0/${path}`, payload: body })
    return { status: answer.statusCode, json: answer.json() }
  }

  /** Over a socket. */
  async send(path: string, body: object = SEND): Promise<number> {
    const url = await this.#app.listen({ host: '127.0.0.1', port: 0 })
    return (await fetch(`${url}/v0/${path}`, { method: 'POST', body: JSON.stringify(body) })).status
  }
}

function destinationOf(id: string, change: Partial<TestedDestination>): TestedDestination {
  const config = { webhookUrl: 'https://hooks.example/in' }
  const others = { workspaceId: OWN, type: 'WEBHOOK', isEnabled: true, config, transformations: [] }
  return { id, name: `Name of ${id}`, ...others, ...change }
}

async function receiver(respond: RequestListener): Promise<{ url: string; requests: number }> {
  const seen = { url: '', requests: 0 }
  const server = createServer((request, response) => {
    seen.requests++
    request.resume()
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => {
    server.closeAllConnections()
    server.close()
  })
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return seen
}

describe('a destination that the server itself delivers to', () => {
  const kinds = {
    KAFKA: 'stream',
    S3: 'object-storage',
    REDIS: 'key-value',
    GOOGLESHEETS: 'spreadsheet',
    BQSTREAM: 'warehouse-stream',
  } as const

  test.each(Object.entries(kinds))('such as %s has exactly three members and runs no stage', async (name, kind) => {
    const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
    const transform = () => {
      throw new Error('a stage ran')
    }
    const module = { transform, definition: { ...webhook.definition, name, kind } }
    const api = await open({ modules: [module], destinations: [{ type: name }, {}, { type: name, isEnabled: false }] })
    const error = `Destination type ${name} is delivered by the server and is not supported by the Test API`
    const body = { stage: { user_transform: true, dest_transform: true }, message: MESSAGE }
    const unsupported = { destinationId: 'd0', destinationName: 'Name of d0', error }
    for (const query of ['', '?force=true', '?include=versions,filter']) {
      expect(await api.post(`testDestination/d0${query}`, body)).toEqual({ status: 200, json: unsupported })
    }
    const { json } = await api.post('testSource/s1', body)
    expect(json).toEqual([
      unsupported,
      expect.objectContaining({ destinationId: 'd1', data: [expect.anything()] }),
      { destinationId: 'd2', destinationName: 'Name of d2', error: 'Destination with id d2 is disabled' },
    ])
    expect((await api.post('testDestination/d2?force=true', body)).json.error).toBe(error)
  })
})

describe('a destination transformation', () => {
  const module = async (transform: DestinationModule['transform']): Promise<DestinationModule> => {
    const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
    return { transform, definition: { ...webhook.definition, name: 'OTHER' } }
  }
  const flags = [
    { dest_transform: true },
    { send_to_destination: true },
    { dest_transform: true, send_to_destination: true },
  ]

  test('that makes no request gives empty lists', async () => {
    const api = await open({ modules: [await module(() => [])], destinations: [{ type: 'OTHER' }] })
    const shown = []
    for (const stage of flags)
      shown.push((await api.post('testDestination/d0', { stage, message: MESSAGE })).json.data[0])
    const [dest, sent] = [
      { dest_transformed_payload: [] },
      { destination_response: [], destination_response_status: [] },
    ]
    expect(shown).toEqual([dest, sent, { ...dest, ...sent }])
  })

  test('is not run for an event that the service would not take now', async () => {
    const others = { ...(await module(() => [])), refusal: () => 'too late' }
    const api = await open({ modules: [others], destinations: [{ type: 'OTHER' }] })
    const shown = []
    for (const stage of flags)
      shown.push((await api.post('testDestination/d0', { stage, message: MESSAGE })).json.data[0])
    const error = { error: 'too late' }
    const aborted = { error: 'error encountered in dest_transformation stage. Aborting.' }
    expect(shown).toEqual([
      { dest_transformed_payload: error },
      { destination_response: error },
      { dest_transformed_payload: error, destination_response: aborted },
    ])
  })

  test('that returns nonsense, or throws no error, fails its stage alone', async () => {
    const nonsense = await module((() => 'nonsense') as never)
    const api = await open({ modules: [nonsense], destinations: [{ type: 'OTHER' }, { config: {} }] })
    const { json } = await api.post('testSource/s1', { stage: flags[2]!, message: MESSAGE })
    const aborted = { error: 'error encountered in dest_transformation stage. Aborting.' }
    expect(json.map(({ data }: { data: object[] }) => data[0])).toEqual([
      {
        dest_transformed_payload: { error: 'destination transformation did not return a list of request objects' },
        destination_response: aborted,
      },
      { dest_transformed_payload: { error: 'Invalid URL in destination config' }, destination_response: aborted },
    ])
  })

  test('that makes several requests has each sent once, in order; answers stand beside them', async () => {
    const paths: string[] = []
    const target = await receiver((request, response) => {
      paths.push(request.url!)
      response.writeHead(request.url === '/2' ? 500 : 200).end()
    })
    const several = await module(() =>
      [1, 2, 3].map((n) => ({
        version: '1',
        type: 'REST',
        method: 'DELETE',
        endpoint: `${target.url}/${n}`,
        headers: {},
        params: {},
        body: { JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {} },
        files: {},
      })),
    )
    const config = { webhookUrl: target.url }
    const api = await open({ modules: [several], destinations: [{ type: 'OTHER', config }] })
    const { json } = await api.post('testDestination/d0', { stage: flags[2]!, message: MESSAGE })
    expect(json.data[0].destination_response_status).toEqual([200, 500, 200])
    expect(json.data[0].dest_transformed_payload).toHaveLength(3)
    expect(paths).toEqual(['/1', '/2', '/3'])
  })

  test('whose requests hold derived secrets shows none of them, unless all were supplied', async () => {
    const target = await receiver((_, response) => response.end())
    const deriving = await module((_, { config, basicAuth }) => [
      {
        version: '1',
        type: 'REST',
        method: 'GET',
        endpoint: String(config['webhookUrl']),
        headers: { 'x-basic': basicAuth('desk', String(config['signingSecret'])) },
        params: {},
        body: { JSON: {}, JSON_ARRAY: {}, XML: {}, FORM: {} },
        files: {},
      },
    ])
    const config = { webhookUrl: target.url, signingSecret: 'pw' }
    const api = await open({ modules: [deriving], destinations: [{ type: 'OTHER', config }] })
    const header = async (more: object, query = '') => {
      const body = { stage: { dest_transform: true }, message: MESSAGE, ...more }
      return (await api.post(`testDestination/d0${query}`, body)).json.data[0].dest_transformed_payload[0].headers
    }
    const supplied = { destinationConfig: { signingSecret: 'other' } }
    expect(await header({})).toEqual({ 'x-basic': '********' })
    expect(await header(supplied)).toEqual({ 'x-basic': `Basic ${Buffer.from('desk:other').toString('base64')}` })
    expect(await header(supplied, '?reveal=none')).toEqual({ 'x-basic': '********' })
  })
})

describe('without an answer', () => {
  const failing = (code: string) => ({
    client: {
      lookup: (_: string, onFound: (error: Error, addresses: []) => void) => {
        setImmediate(onFound, Object.assign(new Error(code), { code }), [])
        return undefined
      },
    },
  })
  test.each([
    ['ENOTFOUND', 400, '[ENOTFOUND] :: DNS lookup failed'],
    ['EAI_AGAIN', 500, '[EAI_AGAIN] :: Temporary failure in name resolution'],
    ['ECONNABORTED', 500, '[ECONNABORTED] :: Connection aborted'],
    ['ECONNRESET', 500, '[ECONNRESET] :: Connection reset by peer'],
    ['EHOSTUNREACH', 400, '[EHOSTUNREACH] :: EHOSTUNREACH'],
  ])('because of %s number and text are ours', async (code, status, message) => {
    const api = await open({ destinations: [{}], ...failing(code) })
    expect((await api.post('testDestination/d0')).json.data).toEqual([
      {
        destination_response: [{ success: false, error: { message, id: null } }],
        destination_response_status: [status],
      },
    ])
  })

  test('a name that resolves to a private address is refused, at every connection anew', async () => {
    const target = await receiver((_, response) => response.end())
    const { port } = new URL(target.url)
    const answers = ['93.184.216.34', '127.0.0.1', '10.0.0.1', '::ffff:127.0.0.1', '169.254.169.254']
    const looked: string[] = []
    const api = await open({
      destinations: [{ config: { webhookUrl: `http://hooks.example:${port}/in` } }],
      client: {
        rules: new EgressRules({ allow: undefined, deny: '93.184.216.34', listenHost: '0.0.0.0' }),
        lookup: (hostname, onFound) => {
          looked.push(hostname)
          const address = answers[looked.length - 1]!
          setImmediate(onFound, null, [{ address, family: address.includes(':') ? 6 : 4 }])
          return undefined
        },
      },
    })
    for (const _ of answers) {
      const { json } = await api.post('testDestination/d0')
      expect(json.data[0].destination_response_status).toEqual([403])
    }
    expect([looked.length, target.requests]).toEqual([answers.length, 0])
  })
})

describe('the limit of a whole request', () => {
  test('ends calls that never answer, and those that were not made yet, as timed out', async () => {
    const target = await receiver(() => {})
    const config = { webhookUrl: target.url }
    const api = await open({
      destinations: Array.from({ length: 10 }, () => ({ config })),
      client: { callTimeoutMs: 600_000 },
    })
    const tested = api.post('testSource/s1', {
      stage: { dest_transform: true, send_to_destination: true },
      message: MESSAGE,
    })
    await until(() => target.requests === 8)
    await api.clock.advance(59_999)
    expect(target.requests).toBe(8)
    await api.clock.advance(1)
    const { status, json } = await tested
    expect([status, json.length, target.requests]).toEqual([200, 10, 8])
    for (const { data } of json) {
      const error = { message: '[ETIMEDOUT] :: Operation timed out', id: null }
      expect(data[0].dest_transformed_payload).toHaveLength(1)
      expect(data[0].destination_response).toEqual([{ success: false, error }])
      expect(data[0].destination_response_status).toEqual([500])
    }
  })

  test('ends a transformation that has not finished as timed out', async () => {
    const transformations = [
      { transformationId: 'a', versionId: 'b', language: 'javascript', code: '', libraries: [] },
    ] as const
    const started = Promise.withResolvers<Pick<Run, 'wallMs' | 'signal'>>()
    const api = await open({
      destinations: [{ transformations }],
      options: {
        userCode: {
          run: (run) => {
            started.resolve(run)
            return new Promise(() => {})
          },
        },
      },
    })
    const tested = api.post('testDestination/d0', {
      stage: { user_transform: true, dest_transform: true, send_to_destination: true },
      message: MESSAGE,
    })
    const { wallMs, signal } = await started.promise
    expect([wallMs, signal!.aborted]).toEqual([60_000, false])
    await api.clock.advance(60_000)
    expect(signal!.aborted).toBe(true)
    expect((await tested).json.data).toEqual([
      {
        user_transformed_payload: { error: 'Timed out' },
        dest_transformed_payload: { error: 'error encountered in user_transformation stage. Aborting.' },
        destination_response: { error: 'error encountered in dest_transformation stage. Aborting.' },
      },
    ])
  })
})

test('a fault of the server answers 503 and is logged with its route', async () => {
  const logged: unknown[] = []
  const fault = new Error('broken')
  const configuration = () => {
    throw fault
  }
  const api = await open({ options: { configuration, logger: { error: (fields) => void logged.push(fields) } } })
  expect(await api.send('testDestination/d0')).toBe(503)
  expect(logged).toEqual([{ method: 'POST', route: '/v0/testDestination/:id', err: fault }])
})

describe('runs at a time', () => {
  test('are bounded; one more waits for a place, and is refused when none becomes free in ten seconds', async () => {
    const release = Promise.withResolvers<void>()
    const target = await receiver((_, response) => void release.promise.then(() => response.end()))
    const limits = { maxBodyBytes: 1_000, maxEventBytes: 0, concurrency: 2, timeoutMs: 60_000 }
    const api = await open({ destinations: [{ config: { webhookUrl: target.url } }], options: { limits } })
    const running = [api.post('testDestination/d0'), api.post('testDestination/d0')]
    await until(() => target.requests === 2)
    const late = api.post('testDestination/d0')
    // What needs no run needs no place.
    expect((await api.post('testDestination/none')).status).toBe(404)
    await api.clock.advance(9_999)
    const patient = api.post('testDestination/d0')
    await api.clock.advance(1)
    expect(await late).toEqual({ status: 503, json: { message: 'Service unavailable' } })
    release.resolve()
    for (const each of [...running, patient])
      expect((await each).json.data[0].destination_response_status).toEqual([200])
    expect(target.requests).toBe(3)
  })

  test('are refused while the server is not ready', async () => {
    const api = await open({ destinations: [{}], options: { isReady: () => false } })
    expect(await api.post('testDestination/d0')).toEqual({ status: 503, json: { message: 'Service unavailable' } })
  })
})

/** Of what only sockets bring about. */
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve))
}
