import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, START } from '../testing/pipeline-under-test.ts'
import { type Arrival, Sink, type SinkAnswer } from '../testing/sink.ts'
import { track, tracks } from '../testing/test-events.ts'

/*
 * Batches of each type against a sink that judges them as its service does: it takes some and names the others, or takes the
 * whole or nothing. The event at fault is a dead letter, the others are taken once (contracts/destinations.md §7a [D527]).
 */

const registry = await DestinationRegistry.load()
const timestamp = new Date(START).toISOString()

/** A service that keeps what it takes. */
interface Vendor {
  readonly config: JsonObject
  readonly type?: 'identify'
  /** The name that every event has, where the configuration lists names. */
  readonly event?: string
  /** The records of a request, each with whether it is the one at fault. */
  records(body: JsonObject, list: readonly unknown[]): unknown[]
  /** The answer to a request whose records at these indexes are at fault, and the status if there is none. */
  readonly taken: number
  refusal(indexes: readonly number[], body: JsonObject): SinkAnswer
  /** Whether a refusal takes the other records. */
  readonly takesOthers: boolean
}

const json = (status: number, body: unknown): SinkAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const listAt = (body: JsonObject, ...path: string[]): unknown[] =>
  path.reduce((value, name) => (value as JsonObject)[name] as JsonObject, body) as unknown as unknown[]

const VENDORS: Record<string, Vendor> = {
  BRAZE: {
    config: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' },
    records: (body) => listAt(body, 'events'),
    taken: 201,
    refusal: (indexes) =>
      json(201, { message: 'success', errors: indexes.map((index) => ({ input_array: 'events', index })) }),
    takesOthers: true,
  },
  KLAVIYO: {
    config: { apiKey: 'pk_x7Hq2-example-key-only' },
    records: (body) =>
      (body['data'] as JsonObject)['type'] === 'event'
        ? [body['data']]
        : listAt(body, 'data', 'attributes', 'events-bulk-create', 'data'),
    taken: 202,
    refusal: (indexes) =>
      json(400, {
        errors: indexes.map((index) => ({
          source: { pointer: `/data/attributes/events-bulk-create/data/${index}/attributes/events` },
        })),
      }),
    takesOthers: false,
  },
  CUSTOMERIO: {
    config: { siteId: 's-1', apiKey: 'x7Hq2-example-key-only' },
    records: (body) => (body['batch'] as unknown[] | undefined) ?? [body],
    taken: 200,
    refusal: (indexes, body) =>
      body['batch'] === undefined
        ? json(400, { errors: [{ reason: 'invalid' }] })
        : json(207, { errors: indexes.map((batch_index) => ({ batch_index, reason: 'invalid' })) }),
    takesOthers: true,
  },
  FACEBOOK_CAPI: {
    config: { pixelId: '1234567890', accessToken: 'EAAx7Hq2-example-token' },
    records: (body) => listAt(body, 'data'),
    taken: 200,
    refusal: () => json(400, { error: { code: 100, is_transient: false } }),
    takesOthers: false,
  },
  HUBSPOT: {
    config: { accessToken: 'pat-eu1-x7Hq2-example-only' },
    type: 'identify',
    records: (body) => listAt(body, 'inputs'),
    taken: 200,
    refusal: (indexes, body) => {
      const ids = indexes.map((index) => (listAt(body, 'inputs')[index] as JsonObject)['objectWriteTraceId'])
      return json(207, { errors: ids.map((id) => ({ context: { objectWriteTraceId: [id] } })) })
    },
    takesOthers: true,
  },
  AMPLITUDE: {
    config: { apiKey: 'x7Hq2exampleKeyOnly' },
    records: (body) => listAt(body, 'events'),
    taken: 200,
    refusal: (indexes) => json(400, { code: 400, events_with_invalid_fields: { event_type: indexes } }),
    takesOthers: false,
  },
  MIXPANEL: {
    config: { projectToken: 'x7Hq2exampleTokenOnly' },
    records: (_body, list) => [...list],
    taken: 200,
    refusal: (indexes) =>
      json(400, { code: 400, failed_records: indexes.map((index) => ({ index, field: 'event', message: 'bad' })) }),
    takesOthers: true,
  },
  SALESFORCE: {
    config: {
      instanceUrl: 'https://cinema.my.salesforce.com',
      oauthClientId: 'x7Hq2exampleKey',
      oauthClientSecret: 'x7Hq2exampleSecret',
      externalIdField: 'Millrace_Id__c',
    },
    type: 'identify',
    records: (body) => listAt(body, 'records'),
    taken: 200,
    refusal: (indexes, body) =>
      json(
        200,
        listAt(body, 'records').map((_, at) =>
          indexes.includes(at)
            ? { success: false, errors: [{ statusCode: 'INVALID_EMAIL_ADDRESS', message: 'bad', fields: ['Email'] }] }
            : { success: true, errors: [] },
        ),
      ),
    takesOthers: true,
  },
  LINKEDIN_CAPI: {
    config: { accessToken: 'x7Hq2exampleOnlyToken', conversions: [{ eventName: '*', conversionId: '104012' }] },
    records: (body) => listAt(body, 'elements'),
    taken: 201,
    refusal: (indexes, body) =>
      json(200, { elements: listAt(body, 'elements').map((_, at) => ({ status: indexes.includes(at) ? 400 : 201 })) }),
    takesOthers: true,
  },
  SNAPCHAT_CAPI: {
    config: { pixelId: '4a018335-717f-41dd', accessToken: 'x7Hq2exampleOnlyToken' },
    event: 'Signed Up',
    records: (body) => listAt(body, 'data'),
    taken: 200,
    refusal: () => json(400, { status: 'INVALID', reason: 'bad event' }),
    takesOthers: false,
  },
  GOOGLE_ADS: {
    config: {
      customerId: '123-456-7890',
      conversions: [{ eventName: 'Order Completed', conversionActionId: '987654321' }],
      oauthClientId: '4711.apps.googleusercontent.com',
      oauthClientSecret: 'GOCSPX-exampleSecret',
      oauthRefreshToken: '1//0exampleRefreshToken',
    },
    event: 'Order Completed',
    records: (body) => listAt(body, 'events'),
    taken: 200,
    refusal: () => json(400, { error: { code: 400, status: 'INVALID_ARGUMENT' } }),
    takesOthers: false,
  },
}

test.each(Object.entries(VENDORS))(
  '%s: one bad event of a batch costs no other, and none is taken twice',
  async (type, vendor) => {
    const took: string[] = []
    const sizes: number[] = []
    const sink = await Sink.start(({ event: sent, events }: Arrival) => {
      const records = vendor.records(sent, events).map((record) => JSON.stringify(record))
      const bad = records.flatMap((record, at) => (record.includes('bad@') ? [at] : []))
      sizes.push(records.length)
      if (bad.length === 0 || vendor.takesOthers) took.push(...records.filter((record) => !record.includes('bad@')))
      return bad.length === 0 ? json(vendor.taken, {}) : vendor.refusal(bad, sent)
    })
    const module = atSink(registry.find(type)!, sink)
    await using run = await PipelineUnderTest.start({
      modules: [module],
      destinations: { d1: { type, config: vendor.config } },
    })
    run.own(sink)
    await run.send(
      ...['ada@', 'bad@', 'bob@', 'eve@'].map((name, n) => ({
        type: vendor.type ?? 'track',
        event: vendor.event ?? `Reserved ${name}`,
        messageId: `m-${name}`,
        userId: `u-${n}`,
        timestamp,
        traits: { email: `${name}mail.example` },
        context: { traits: { email: `${name}mail.example` } },
      })),
    )
    await run.settle()
    expect(sizes[0]).toBe(4)
    expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['m-bad@'])
    for (const id of ['m-ada@', 'm-bob@', 'm-eve@']) expect(await run.outcome(id)).toBe('delivered')
    const times = ['ada@', 'bob@', 'eve@'].map((name) => took.filter((record) => record.includes(name)).length)
    expect(times).toEqual([1, 1, 1])
  },
)

test('Salesforce: a batch whose answer is too large to be read is halved until its parts can be', async () => {
  const vendor = VENDORS['SALESFORCE']!
  const failed = {
    success: false,
    errors: [{ statusCode: 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY', message: 'x'.repeat(400_000) }],
  }
  const sizes: number[] = []
  const sink = await Sink.start(({ event }: Arrival) => {
    const records = listAt(event, 'records')
    sizes.push(records.length)
    return json(
      200,
      records.map((record) => (JSON.stringify(record).includes('u-3') ? { success: true, errors: [] } : failed)),
    )
  })
  await using run = await PipelineUnderTest.start({
    modules: [atSink(registry.find('SALESFORCE')!, sink)],
    destinations: { d1: { type: 'SALESFORCE', config: vendor.config } },
  })
  run.own(sink)
  await run.send(...Array.from({ length: 4 }, (_, n) => ({ type: 'identify', messageId: `m-${n}`, userId: `u-${n}` })))
  await run.settle()
  expect(sizes).toEqual([4, 2, 2])
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId).sort()).toEqual([
    'm-0',
    'm-1',
    'm-2',
  ])
  expect(await run.outcome('m-3')).toBe('delivered')
})

test('Amplitude throttles a user of a batch: only the event of that user waits', async () => {
  const took: string[] = []
  const sink = await Sink.start(({ event }: Arrival) => {
    const records = listAt(event, 'events').map((record) => JSON.stringify(record))
    const throttled = records.flatMap((record, at) => (record.includes('bad@') ? [at] : []))
    if (throttled.length > 0) return json(429, { code: 429, eps_threshold: 30, throttled_events: throttled })
    took.push(...records)
    return json(200, { code: 200 })
  })
  const module = atSink(registry.find('AMPLITUDE')!, sink)
  const { config } = VENDORS['AMPLITUDE']!
  await using run = await PipelineUnderTest.start({
    modules: [module],
    destinations: { d1: { type: 'AMPLITUDE', config } },
  })
  run.own(sink)
  const names = ['ada@', 'bad@', 'bob@', 'eve@']
  await run.send(...names.map((name) => ({ ...track(`m-${name}`, `u-${name}`), event: name })))
  await run.settle()
  for (const id of ['m-ada@', 'm-bob@', 'm-eve@']) expect(await run.outcome(id)).toBe('delivered')
  expect(await run.outcome('m-bad@')).toBe('retrying')
  expect(took.length).toBe(3)
})

test.each(['MIXPANEL', 'KLAVIYO', 'AMPLITUDE'])(
  '%s: a batch whose answer loses its body waits as a whole: which events were taken is not known',
  async (type) => {
    const vendor = VENDORS[type]!
    const sizes: number[] = []
    let lost = 0
    const sink = await Sink.start(({ event, events }: Arrival) => {
      sizes.push(vendor.records(event, events).length)
      return lost++ < 2 ? { status: lost === 1 ? 200 : 400, body: '{"', isLost: true } : json(vendor.taken, {})
    })
    await using run = await PipelineUnderTest.start({
      modules: [atSink(registry.find(type)!, sink)],
      destinations: { d1: { type, config: vendor.config } },
    })
    run.own(sink)
    await run.send(...tracks(4, (n) => `u-${n}`))
    expect((await run.state()).retrying).toBe(4)
    await run.advance(5 * MINUTE)
    expect(sizes).toEqual([4, 4, 4])
    for (let n = 0; n < 4; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
  },
)

/** The type, with its service on this machine, which asks for no access token. */
function atSink({ tokenGrant: _, ...module }: DestinationModule, sink: Sink): DestinationModule {
  return {
    ...module,
    transform: (event, context) =>
      module.transform(event, context).map((request) => ({
        ...request,
        endpoint: new URL(new URL(request.endpoint).pathname, sink.url).href,
      })),
  }
}
