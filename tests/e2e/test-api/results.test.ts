import { DevEnv, Sink } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ALL, ApiTester, MESSAGE, posted, SEND, TRANSFORM } from './tester.ts'

/*
 * What is answered of one destination and of a source (contracts/test-api.md §4, §5, §14 lines 7, 10, 11, 15, 21, 24, 25).
 */

let env: DevEnv
let api: ApiTester
let url: string
let id: string
let sourceId: string

beforeAll(async () => {
  env = await DevEnv.open()
  api = new ApiTester(env)
  url = `${env.sink.url}/hook`
  const webhook = await env.webhook({ name: 'Booking hook' })
  id = webhook.destinationId
  sourceId = webhook.source.id
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({ status: 202, headers: JSON_TYPE, body: '{"accepted":true}' })
})

const JSON_TYPE = { 'content-type': 'application/json' }
const named = () => ({ destinationId: id, destination: 'WEBHOOK', destinationName: 'Booking hook' })

test('a result has exactly the members of the contract', async () => {
  const { status, json } = await api.destination(id, { stage: ALL, message: MESSAGE })
  expect([status, json]).toEqual([
    200,
    {
      ...named(),
      data: [
        {
          user_transformed_payload: { error: 'Transformation VersionID not found' },
          dest_transformed_payload: [posted(url, MESSAGE)],
          destination_response: [{ accepted: true }],
          destination_response_status: [202],
        },
      ],
    },
  ])
  expect(env.sink.received).toMatchObject([{ method: 'POST', path: '/hook', json: MESSAGE }])
})

test.each([
  ['without ids, times and addresses', { type: 'track', event: 'x' }],
  ['which its own integrations would hold back', { type: 'track', event: 'x', integrations: { All: false } }],
  ['with ids that live traffic would judge', { type: 'page', messageId: 7, receivedAt: null, userId: { a: [] } }],
])('a message %s reaches the destination as it is', async (_, message) => {
  const kept = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))
  const { dest_transformed_payload } = await api.stages(id, ALL, message)
  expect(dest_transformed_payload).toEqual([posted(url, kept)])
  expect(env.sink.received[0]!.json).toEqual(kept)
})

test('message types and event filters of the destination hold no test back', async () => {
  const config = { eventFilteringOption: 'whitelistedEvents', whitelistedEvents: [] }
  const { destinationId } = await env.webhook({ config })
  expect(await api.stages(destinationId, SEND)).toMatchObject({ destination_response_status: [202] })
})

describe('an answer of the destination', () => {
  test.each<[string, string | undefined, string, object]>([
    ['an object', 'application/json', '{"a":[1]}', { a: [1] }],
    ['an object of unknown type', undefined, '{"a":1}', { a: 1 }],
    ['an object that says it is text', 'text/plain', '{"a":1}', { a: 1 }],
    ['a list', 'application/json', '[1,2]', { body: [1, 2] }],
    ['a number', 'application/json', '7', { body: 7 }],
    ['null', 'application/json', 'null', { body: null }],
    ['a quoted text', 'application/json', '"ok"', { body: 'ok' }],
    ['text', 'text/html; charset=utf-8', '<p>ok</p>', { body: '<p>ok</p>' }],
    ['XML', 'application/xml', '<ok/>', { body: '<ok/>' }],
    ['JSON that is none', 'application/problem+json', '{"a":', { body: '{"a":' }],
    ['bytes', 'application/octet-stream', '\x00\xff', { body: '' }],
    ['bytes of unknown type', undefined, 'ok', { body: '' }],
    ['nothing', 'application/json', '', { body: '' }],
    [
      'JSON too deep to be written again',
      'application/json',
      '['.repeat(5_000) + ']'.repeat(5_000),
      { body: '['.repeat(5_000) + ']'.repeat(5_000) },
    ],
    [
      'an object with a member __proto__',
      'application/json',
      '{"__proto__":{"a":1}}',
      JSON.parse('{"__proto__":{"a":1}}'),
    ],
  ])('that is %s is shown', async (_, type, body, shown) => {
    env.sink.answer = () => ({ headers: type === undefined ? {} : { 'content-type': type }, body })
    const { destination_response } = await api.stages(id, SEND)
    expect(destination_response).toEqual([shown])
    expect(JSON.stringify(destination_response)).toBe(JSON.stringify([shown]))
  })

  test('that is compressed, which nobody asked for, is shown as none', async () => {
    env.sink.answer = () => ({ headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: '{"a":1}' })
    expect(await api.stages(id, SEND)).toEqual({
      destination_response: [{ body: '' }],
      destination_response_status: [200],
    })
  })

  test('is cut after 1 MB', async () => {
    env.sink.answer = () => ({ headers: JSON_TYPE, body: `"${'x'.repeat(2_000_000)}"` })
    const { destination_response } = await api.stages(id, SEND)
    expect(destination_response[0].body).toBe(`"${'x'.repeat(1024 * 1024 - 1)}`)
  })

  test.each([200, 302, 400, 401, 404, 408, 429, 500, 503])(
    'with status %d is the result of one call',
    async (status) => {
      const headers = { 'retry-after': '0', location: `${env.sink.url}/elsewhere`, 'content-type': 'text/plain' }
      env.sink.answer = () => ({ status, headers, body: `said ${status}` })
      expect(await api.stages(id, SEND)).toEqual({
        destination_response: [{ body: `said ${status}` }],
        destination_response_status: [status],
      })
      expect(env.sink.received).toHaveLength(1)
    },
  )

  test('with status 204 has no body', async () => {
    env.sink.answer = () => ({ status: 204 })
    expect(await api.stages(id, SEND)).toEqual({
      destination_response: [{ body: '' }],
      destination_response_status: [204],
    })
  })
})

test('requests say that they are tests, behind a user agent of the configuration or the event', async () => {
  await api.stages(id, SEND)
  const destinationConfig = { headers: { 'User-Agent': 'Cinema/7' } }
  const shown = await api.stages(id, ALL, MESSAGE, { destinationConfig })
  await api.stages(id, SEND, { ...MESSAGE, header: { 'USER-AGENT': 'App/1' } })
  const { version } = (await env.api('GET', '/v2/admin/info')).json.info
  expect(env.sink.received.map(({ headers }) => headers['user-agent'])).toEqual([
    `Millrace-Test/${version}`,
    `Cinema/7 Millrace-Test/${version}`,
    `App/1 Millrace-Test/${version}`,
  ])
  expect(shown.dest_transformed_payload[0].headers['user-agent']).toBe('Cinema/7')
})

describe('what is disabled', () => {
  test('a destination gives three members and runs no stage, unless it is forced', async () => {
    const { destinationId } = await env.webhook({ name: 'Old hook' })
    await env.api('PATCH', `/v2/destinations/${destinationId}`, { enabled: false })
    const body = { stage: ALL, message: MESSAGE }
    for (const query of ['', '?force=false', '?force=1', '?force=', '?force=yes']) {
      const { status, json } = await api.destination(destinationId, body, query)
      expect([status, json]).toEqual([
        200,
        { destinationId, destinationName: 'Old hook', error: `Destination with id ${destinationId} is disabled` },
      ])
    }
    expect(env.sink.received).toEqual([])
    for (const query of ['?force=true', '?force=TRUE', '?x=1&force=True']) {
      const { json } = await api.destination(destinationId, body, query)
      expect(json.data[0].destination_response_status).toEqual([202])
    }
    expect(env.sink.received).toHaveLength(3)
  })

  test('a source is refused with the given text; forced it runs with its disabled destinations', async () => {
    const source = await env.source()
    const on = await env.webhook({ source, name: 'On' })
    const off = await env.webhook({ source, name: 'Off' })
    await env.api('PATCH', `/v2/destinations/${off.destinationId}`, { enabled: false })
    const body = { stage: SEND, message: MESSAGE }
    const skipped = {
      destinationId: off.destinationId,
      destinationName: 'Off',
      error: `Destination with id ${off.destinationId} is disabled`,
    }
    const sent = { data: [{ destination_response_status: [202] }] }
    expect((await api.source(source.id, body)).json).toMatchObject([{ destinationName: 'On', ...sent }, skipped])

    await env.api('PATCH', `/v2/sources/${source.id}`, { enabled: false })
    const refused = await api.source(source.id, body)
    expect([refused.status, refused.json]).toEqual([400, { message: `Source with ${source.id} is disabled` }])
    expect((await api.source(source.id, body, '?force=true')).json).toMatchObject([
      { destinationId: on.destinationId, ...sent },
      { destinationId: off.destinationId, destination: 'WEBHOOK', ...sent },
    ])
  })
})

describe('a source', () => {
  test('gives one result for each enabled connection, in the order in which they were made', async () => {
    const source = await env.source()
    const made = []
    for (const name of ['c', 'a', 'b', 'd']) made.push(await env.webhook({ source, name }))
    await env.api('PATCH', `/v2/connections/${made[1]!.connectionId}`, { enabled: false })
    // The last one answers first.
    env.sink.answer = async ({ headers }) => {
      if (headers['x-slow'] !== undefined) await env.sink.waitFor(3)
      return {}
    }
    await env.api('PATCH', `/v2/destinations/${made[0]!.destinationId}`, {
      config: { webhookUrl: url, headers: { 'X-Slow': '1' } },
    })
    const { json } = await api.source(source.id, { stage: SEND, message: MESSAGE })
    expect(json.map((each: { destinationName: string }) => each.destinationName)).toEqual(['c', 'b', 'd'])
  })

  test('tests eight destinations side by side and the ninth when one has finished', async () => {
    await using receiver = await Sink.open()
    const source = await env.source()
    for (let n = 0; n < 9; n++) await env.webhook({ source, config: { webhookUrl: `${receiver.url}/${n}` } })
    const release = Promise.withResolvers<void>()
    receiver.answer = async ({ path }) => {
      if (path !== '/0' && path !== '/8') await release.promise
      else await receiver.waitFor(8)
      return {}
    }
    const tested = api.source(source.id, { stage: SEND, message: MESSAGE })
    await receiver.waitFor(9)
    expect(
      receiver.received
        .slice(0, 8)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...'01234567'].map((n) => `/${n}`))
    release.resolve()
    expect((await tested).json).toHaveLength(9)
  })

  test('without a connection, or with disabled ones only, is refused', async () => {
    const { source, connectionId } = await env.webhook()
    await env.api('PATCH', `/v2/connections/${connectionId}`, { enabled: false })
    for (const sourceId of [source.id, (await env.source()).id]) {
      const { status, json } = await api.source(sourceId, { stage: SEND, message: MESSAGE })
      expect([status, json]).toEqual([400, { message: `Source with ${sourceId} is not connected to any destination` }])
    }
  })

  test('takes no destinationConfig, and sends nothing then', async () => {
    for (const destinationConfig of [{}, { webhookUrl: url }, null]) {
      const { status, json } = await api.source(sourceId, { stage: SEND, message: MESSAGE, destinationConfig })
      expect([status, json]).toEqual([400, { message: 'destinationConfig is not supported by testSource' }])
    }
    expect(env.sink.received).toEqual([])
  })
})

describe('extras', () => {
  const body = { stage: { ...ALL, send_to_destination: false }, message: MESSAGE }

  test('are added only when they are asked for by their names', async () => {
    const plain = (await api.destination(id, body)).json
    for (const query of ['?include=', '?include=nothing,extras', '?extras=versions']) {
      expect((await api.destination(id, body, query)).json).toEqual(plain)
    }
    const words: Record<string, string[]> = {
      versions: ['configHash', 'serverVersion', 'transformationVersionIds'],
      steps: ['steps'],
      events: ['userTransformedEvents'],
      logs: ['logs'],
      timings: ['timings'],
      filter: ['filter'],
      batch: ['batch'],
      warnings: ['warnings'],
    }
    for (const [word, members] of Object.entries(words)) {
      const { extras, ...others } = (await api.destination(id, body, `?include=${word},unknown`)).json
      expect(others).toEqual(plain)
      expect(Object.keys(extras).sort()).toEqual(members)
    }
    const { json } = await api.source(sourceId, body, `?include=${Object.keys(words).join(',')}`)
    expect(Object.keys(json[0].extras).sort()).toEqual(Object.values(words).flat().sort())
  })

  test('the request of the one message is shown, with how many live events it may carry', async () => {
    const asked = async (destinationConfig: object) => {
      const { json } = await api.destination(id, { ...body, destinationConfig }, '?include=batch')
      return { batch: json.extras.batch, request: json.data[0].dest_transformed_payload[0] }
    }
    expect(await asked({})).toEqual({ batch: null, request: posted(url, MESSAGE) })
    expect(await asked({ batchSize: 50 })).toEqual({ batch: { maxEvents: 50 }, request: posted(url, MESSAGE) })
  })

  test('versions tell of the configuration by a hash that secrets do not change', async () => {
    const hashOf = async (destinationConfig: object) =>
      (await api.destination(id, { ...body, destinationConfig }, '?include=versions')).json.extras.configHash
    const first = await hashOf({ headers: { Authorization: 'Bearer one', 'X-Desk': '3' } })
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await hashOf({ headers: { Authorization: 'Bearer two', 'X-Desk': '3' } })).toBe(first)
    expect(await hashOf({ headers: { Authorization: 'Bearer one', 'X-Desk': '4' } })).not.toBe(first)
  })

  test.each<[object, object, string | null]>([
    [MESSAGE, {}, null],
    [{ ...MESSAGE, integrations: { All: false } }, {}, 'integrations'],
    [MESSAGE, { eventFilteringOption: 'whitelistedEvents', whitelistedEvents: [] }, 'event filter'],
    [MESSAGE, { connectionMode: { cloud: 'device' } }, 'device mode'],
  ])('filter tells what live traffic does with %j and %j', async (message, config, reason) => {
    const { source } = await env.webhook({ config })
    const { json } = await api.source(source.id, { stage: {}, message }, '?include=filter')
    expect(json[0].extras.filter).toEqual({ skipped: reason !== null, reason })
  })

  test('filter tells that a destination is disabled', async () => {
    const { destinationId } = await env.webhook()
    await env.api('PATCH', `/v2/destinations/${destinationId}`, { enabled: false })
    const { json } = await api.destination(destinationId, body, '?include=filter&force=true')
    expect(json.extras.filter).toEqual({ skipped: true, reason: 'destination is disabled' })
  })

  test('warnings name variables without effect, and a message that live traffic refuses', async () => {
    const message = { ...MESSAGE, filler: 'x'.repeat(33 * 1024) }
    const destinationConfig = { colour: 'blue', connectionMode: {}, webhookMethod: 'PUT' }
    const { json } = await api.destination(id, { ...body, message, destinationConfig }, '?include=warnings')
    expect(json.extras.warnings).toEqual([
      'destinationConfig.colour is not a variable of WEBHOOK and has no effect',
      'destinationConfig.connectionMode is not a variable of WEBHOOK and has no effect',
      'The message is larger than 32 KB: live traffic refuses it',
    ])
    expect(json.data[0].dest_transformed_payload[0].method).toBe('PUT')
  })

  test('timings have what ran', async () => {
    const timings = async (stage: object) =>
      (await api.destination(id, { stage, message: MESSAGE }, '?include=timings')).json.extras.timings
    expect(await timings({})).toEqual({ requests: [] })
    expect(await timings(TRANSFORM)).toEqual({ destTransformMs: expect.any(Number), requests: [] })
    expect(await timings(ALL)).toEqual({ destTransformMs: expect.any(Number), requests: [{ ms: expect.any(Number) }] })
  })
})
