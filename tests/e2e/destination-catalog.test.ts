import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ApiTester, SEND, TRANSFORM } from './test-api/tester.ts'

/* Types of the destination catalog over HTTP, run in the worker. @see contracts/destination-catalog.md §20 */

const SECRET = 'canary-of-the-shared-secret'
const MESSAGE = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', seat: 14 } }

let env: DevEnv
let tester: ApiTester

beforeAll(async () => {
  env = await DevEnv.open()
  tester = new ApiTester(env)
}, 30_000)
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

/** A mapping of the type CATALOG_WEBHOOK. */
function sending(path: string, more: object = {}) {
  return {
    action: 'send',
    trigger: 'type = "track"',
    base: 'default',
    mapping: { url: `${env?.sink.url ?? 'https://receiver.example'}${path}` },
    ...more,
  }
}

async function made(config: object, type = 'CATALOG_WEBHOOK'): Promise<string> {
  const { status, json, text } = await env.api('POST', '/v2/destinations', { name: `d-${Math.random()}`, type, config })
  if (status !== 200) throw new Error(text)
  return json.destination.id
}

async function connected(config: object, type?: string) {
  const source = await env.source()
  const destinationId = await made(config, type)
  await env.api('POST', '/v2/connections', { sourceId: source.id, destinationId })
  return { source, destinationId }
}

describe('definitions', () => {
  test('every listed entry is shown beside the types by hand; only one that is asked for shows its actions', async () => {
    const { json } = await env.api('GET', '/destination-definitions?include=schema')
    const entries = json.filter(({ options }: { options: { catalog?: true } }) => options.catalog === true)
    expect(entries).toHaveLength(108)
    expect(json.length).toBeGreaterThan(108)
    const loops = entries.find(({ name }: { name: string }) => name === 'CATALOG_LOOPS')
    expect(loops).toMatchObject({
      displayName: 'Loops',
      kind: 'cloud',
      defaultConfig: ['apiKey', 'subscriptions', 'vendorLabels'],
    })
    expect(loops.uiConfig.actions).toBeUndefined()
    const one = (await env.api('GET', '/destination-definitions/CATALOG_LOOPS')).json
    expect(Object.keys(one.uiConfig.actions)).toEqual(['createOrUpdateContact', 'sendEvent'])
    expect(one.options.provenance).toContain('run unmodified; not affiliated')
  })

  test('saving an excluded entry, or one of another class, is refused as an unknown type', async () => {
    for (const type of ['CATALOG_KAFKA', 'CATALOG_SEGMENT', 'CATALOG_SALESFORCE']) {
      const { status, json } = await env.api('POST', '/v2/destinations', { name: 'x', type, config: {} })
      expect(status).toBe(400)
      expect(json.error).toMatch(new RegExp(`^Unknown destination type ${type}; known are`))
    }
  })
})

describe('saving', () => {
  test.each([
    ['a trigger that does not parse', sending('/x', { trigger: 'type = "track' }), '/subscriptions/0/trigger'],
    [
      'a directive in an address',
      sending('/x', { mapping: { url: { '@path': '$.properties.url' } } }),
      '/subscriptions/0/mapping/url',
    ],
    ['an unknown action', { action: 'none' }, '/subscriptions/0/action'],
    ['an unknown directive', sending('/x', { mapping: { data: { '@eval': 'x' } } }), '/subscriptions/0/mapping/data'],
    ['no trigger at all', { action: 'send' }, '/subscriptions/0'],
  ])('%s is refused with its path', async (_name, mapping, path) => {
    const config = { subscriptions: [mapping] }
    const { status, json } = await env.api('POST', '/v2/destinations', { name: 'x', type: 'CATALOG_WEBHOOK', config })
    expect([status, json.details?.path]).toEqual([422, path])
  })

  test('batches of an action that takes one event are refused with their path', async () => {
    const config = { subscriptions: [{ action: 'postToChannel', trigger: 'type = "track"', batch: true }] }
    const { status, json } = await env.api('POST', '/v2/destinations', { name: 'x', type: 'CATALOG_SLACK', config })
    expect([status, json.details?.path]).toEqual([422, '/subscriptions/0/batch'])
  })

  test('a 51st mapping is refused', async () => {
    const config = { subscriptions: Array.from({ length: 51 }, () => sending('/x')) }
    const { status, json } = await env.api('POST', '/v2/destinations', { name: 'x', type: 'CATALOG_WEBHOOK', config })
    expect([status, json.details?.path]).toEqual([422, '/subscriptions'])
  })

  test('a saved secret does not follow the address of a mapping to another host', async () => {
    const id = await made({ sharedSecret: SECRET, subscriptions: [sending('/in')] })
    const elsewhere = {
      sharedSecret: '********',
      subscriptions: [sending('/in', { mapping: { url: 'https://other.example/in' } })],
    }
    const { json } = await env.api('PATCH', `/v2/destinations/${id}`, { config: elsewhere })
    expect(json.destination.config).not.toHaveProperty('sharedSecret')
  })

  test('an address that is a credential is masked, and the mask keeps it', async () => {
    const url = 'https://hooks.slack.com/services/T000/B000/canary'
    const mapping = {
      action: 'postToChannel',
      name: 'Orders',
      trigger: 'type = "track"',
      base: 'default',
      mapping: { url, channel: 'orders', text: 'A seat' },
    }
    const id = await made({ subscriptions: [mapping] }, 'CATALOG_SLACK')
    const shown = (await env.api('GET', `/v2/destinations/${id}`)).json.destination.config
    expect(shown.subscriptions[0].mapping.url).toBe('********')
    await env.api('PATCH', `/v2/destinations/${id}`, { config: shown })
    const { dest_transformed_payload: requests } = await tester.stages(id, TRANSFORM, {
      ...MESSAGE,
      properties: { text: 'Hello' },
    })
    expect(JSON.stringify(requests)).not.toContain('canary')
    expect(requests).toHaveLength(1)
  })
})

describe('Test API', () => {
  test('dest_transform alone shows the request and reaches no network', async () => {
    const id = await made({ sharedSecret: SECRET, subscriptions: [sending('/in')] })
    const { dest_transformed_payload: requests } = await tester.stages(id, TRANSFORM, MESSAGE)
    expect(requests).toMatchObject([{ method: 'POST', endpoint: `${env.sink.url}/in`, body: { JSON: MESSAGE } }])
    expect(env.sink.received).toEqual([])
  })

  test('what is shown with sending is what was sent, byte for byte', async () => {
    env.sink.answer = () => ({ status: 201, headers: { 'content-type': 'application/json' }, body: '{"seat":"kept"}' })
    const id = await made({ subscriptions: [sending('/in')] })
    const shown = await tester.stages(id, { ...TRANSFORM, ...SEND }, MESSAGE)
    expect(shown.destination_response_status).toEqual([201])
    expect(shown.destination_response).toEqual([{ seat: 'kept' }])
    const [request] = shown.dest_transformed_payload
    const [received] = env.sink.received
    expect(received!.body.toString()).toBe(JSON.stringify(request.body.JSON))
    expect(received!.headers['user-agent']).toMatch(/^Millrace-Test\//)
    expect(`${env.sink.url}${received!.path}`).toBe(request.endpoint)
  })

  test('an event that no mapping matches gives no request, and a fault of validation its text', async () => {
    const id = await made({ subscriptions: [sending('/in')] })
    expect(await tester.stages(id, TRANSFORM, { type: 'page', userId: 'u' })).toEqual({ dest_transformed_payload: [] })
    const noUrl = await made({
      subscriptions: [sending('/in', { base: 'none', mapping: { method: 'POST', data: { a: 1 } } })],
    })
    const { dest_transformed_payload: fault } = await tester.stages(noUrl, { ...TRANSFORM, ...SEND }, MESSAGE)
    expect(fault).toEqual({ error: "The root value is missing the required field 'url'." })
    expect(env.sink.received).toEqual([])
  })

  test('names the batch that a message would join, and shows the request of the message alone', async () => {
    const batchOf = async (mapping: object) => {
      const id = await made({ subscriptions: [mapping] })
      const { json } = await tester.destination(id, { stage: TRANSFORM, message: MESSAGE }, '?include=batch')
      expect(json.data[0].dest_transformed_payload[0].body.JSON).toMatchObject({ event: 'Seat Reserved' })
      return json.extras.batch
    }
    expect(await batchOf(sending('/in', { batch: true }))).toEqual({ maxEvents: 100 })
    expect(await batchOf(sending('/in'))).toBeNull()
  })

  test('plain http to an address that is not in the configuration is refused', async () => {
    const { dest_transformed_payload: refused } = await tester.stages(
      await made({ subscriptions: [sending('/in', { mapping: { url: 'https://api.segment.io/v1' } })] }),
      TRANSFORM,
      MESSAGE,
    )
    expect(refused).toEqual({ error: 'request to a refused host' })
  })
})

describe('live delivery', () => {
  test('an event is delivered by each mapping that matches, and shown in its trace', async () => {
    const { source } = await connected({ subscriptions: [sending('/one'), sending('/two')] })
    await env.send('/v1/track', { ...MESSAGE, messageId: 'm-live' }, source.writeKey)
    const { requests } = await env.journey('m-live', 'delivered')
    expect(env.sink.received.map(({ path }) => path)).toEqual(['/one', '/two'])
    expect(env.sink.received[0]!.headers['user-agent']).toMatch(/^Millrace\//)
    expect(requests.map(({ endpoint }) => endpoint)).toEqual([`${env.sink.url}/one`, `${env.sink.url}/two`])
  })

  test('a mapping with `batch` sends the events that wait in one request, and each trace says how many', async () => {
    const first = Promise.withResolvers<object>()
    env.sink.answer = () => (env.sink.received.length === 1 ? first.promise : {})
    const { source, destinationId } = await connected({ subscriptions: [sending('/in', { batch: true })] })
    await env.api('PATCH', `/v2/destinations/${destinationId}`, { delivery: { concurrency: 1 } })
    const messages = [0, 1, 2, 3].map((n) => ({ ...MESSAGE, userId: `u-${n}`, messageId: `m-batch-${n}` }))
    await env.send('/v1/track', messages[0]!, source.writeKey)
    await env.sink.waitFor(1)
    await env.send('/v1/batch', { batch: messages.slice(1) }, source.writeKey)
    first.resolve({})
    for (const { messageId } of messages) await env.journey(messageId, 'delivered')
    const sent = env.sink.received.map(({ body }) => JSON.parse(body.toString()))
    expect(sent.map((body) => (Array.isArray(body) ? body.map(({ userId }) => userId) : body.userId))).toEqual([
      'u-0',
      ['u-1', 'u-2', 'u-3'],
    ])
    const { requests } = await env.journey('m-batch-2', 'delivered')
    expect(requests[0]!.attempts[0]).toMatchObject({ status: 200, batch: 3 })
  })

  test('an event that no mapping matches is filtered with that reason', async () => {
    const { source } = await connected({ subscriptions: [sending('/in')] })
    await env.send('/v1/page', { userId: 'u', messageId: 'm-page' }, source.writeKey)
    expect((await env.journey('m-page', 'filtered')).reason).toBe('no mapping matches')
  })

  test('an event that does not pass validation becomes a dead letter of the destination transformation', async () => {
    const { source, destinationId } = await connected({
      subscriptions: [sending('/in', { base: 'none', mapping: { method: 'POST', data: { a: 1 } } })],
    })
    await env.send('/v1/track', { ...MESSAGE, messageId: 'm-invalid' }, source.writeKey)
    const { reason } = await env.journey('m-invalid', 'dead_lettered')
    expect(reason).toBe("The root value is missing the required field 'url'.")
    const letters = await env.api('GET', `/v2/dead-letters?destinationId=${destinationId}`)
    expect(letters.json.deadLetters[0].stage).toBe('dest_transformation')
    expect(env.sink.received).toEqual([])
  })

  test('an aborted mapping does not keep the next one from its event, which ends as a dead letter', async () => {
    env.sink.answer = ({ path }) => ({ status: path === '/one' ? 400 : 200 })
    const { source } = await connected({ subscriptions: [sending('/one'), sending('/two')] })
    await env.send('/v1/track', { ...MESSAGE, messageId: 'm-abort' }, source.writeKey)
    expect((await env.journey('m-abort', 'dead_lettered')).reason).toBe('answered 400')
    expect(env.sink.received.map(({ path }) => path)).toEqual(['/one', '/two'])
  })

  test('the original name of an entry is a key of integrations', async () => {
    const { source } = await connected({ apiKey: 'key-of-loops-0123' }, 'CATALOG_LOOPS')
    await env.send(
      '/v1/track',
      { ...MESSAGE, messageId: 'm-alias', integrations: { 'Loops (Actions)': false } },
      source.writeKey,
    )
    expect((await env.journey('m-alias', 'filtered')).reason).toBe('integrations')
  })
})

test('testing a connection runs the test of the definition', async () => {
  const none = await env.api('POST', '/v2/destinations/test-connection', {
    type: 'CATALOG_WEBHOOK',
    config: { subscriptions: [sending('/in')] },
  })
  expect(none.json).toMatchObject({ tested: false, verdict: 'unknown' })
})

describe('choices of a field', () => {
  const config = { accountSID: 'AC0123', apiKeySID: 'SK0123', apiKeySecret: 'canary-of-twilio-0123' }
  const asked = (more: object) =>
    env.api('POST', '/v2/destinations/field-options', {
      type: 'CATALOG_TWILIO_MESSAGING',
      config,
      action: 'sendMessage',
      field: 'channel',
      ...more,
    })

  test('are listed, also by the values of other fields and for a saved destination whose secrets are masked', async () => {
    const { json } = await asked({})
    expect(json).toMatchObject({ nextPage: null, error: null })
    expect(json.choices).toContainEqual({ label: 'SMS', value: 'SMS' })
    const destinationId = await made(config, 'CATALOG_TWILIO_MESSAGING')
    const masked = { ...config, apiKeySecret: '********' }
    const senders = await asked({ config: masked, destinationId, field: 'senderType', values: { channel: 'SMS' } })
    expect(senders.json.choices.length).toBeGreaterThan(1)
  })

  test('what is no such field is refused', async () => {
    const refusals: [object, string][] = [
      [{ action: '' }, 'action is required'],
      [{ field: 1 }, 'field is required'],
      [{ values: [] }, 'values must be an object'],
      [{ field: 'toPhoneNumber' }, 'sendMessage.toPhoneNumber has no choices that the service lists'],
      [{ action: 'none' }, 'none.channel has no choices that the service lists'],
      [{ colour: 1 }, 'Unknown member: colour'],
    ]
    for (const [more, error] of refusals) {
      const { status, json } = await asked(more)
      expect([status, json.error]).toEqual([400, error])
    }
    const byHand = { type: 'WEBHOOK', config: { webhookUrl: env.sink.url } }
    expect((await asked(byHand)).json.error).toBe('sendMessage.channel has no choices that the service lists')
  })
})

test('a type is not verified here until a service has accepted an event of it', async () => {
  const isVerified = async (type: string) =>
    (await env.api('GET', `/destination-definitions/${type}`)).json.options.verified
  const { source } = await connected({ subscriptions: [sending('/in')] })
  await env.send('/v1/track', { ...MESSAGE, messageId: 'm-verified' }, source.writeKey)
  await env.journey('m-verified', 'delivered')
  expect([await isVerified('CATALOG_WEBHOOK'), await isVerified('CATALOG_LOOPS')]).toEqual([true, false])
})
