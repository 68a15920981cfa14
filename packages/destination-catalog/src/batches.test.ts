import type { JsonObject } from '@millrace/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { batchOutcome } from './batch-outcome.ts'
import type { PooledEnd } from './host/guest-pool.ts'
import { batchKey } from './mappings/batch-key.ts'
import type { EventEnd, Thrown } from './messages.ts'
import type { CatalogRequest } from './requests/rewrites.ts'
import { TEST_RUN, testCatalog } from './testing/test-catalog.ts'

/* Several events in one run of the packages' own code. @see contracts/destination-catalog.md §9.3 */

const catalog = testCatalog()
afterAll(() => catalog[Symbol.asyncDispose]())

const BRAZE = { api_key: 'key-of-braze', app_id: 'app', endpoint: 'https://rest.iad-01.braze.com' }

/** The braze mapping for all tracks, in batches. */
function brazeMapping(more: JsonObject = {}) {
  return { action: 'trackEvent', trigger: 'type = "track"', base: 'default', batch: true, ...more }
}

function track(n: number, more: JsonObject = {}): JsonObject {
  return {
    type: 'track',
    event: 'Seat Reserved',
    userId: `u-${n}`,
    messageId: `m-${n}`,
    timestamp: '2026-11-20T09:30:00.123Z',
    receivedAt: '2026-11-20T09:30:01.000Z',
    properties: { seat: n },
    ...more,
  }
}

/** Delivers events by the first mapping that matches the first of them. */
async function deliver(
  name: string,
  config: JsonObject,
  events: readonly JsonObject[],
  answer: (request: CatalogRequest) => { status: number; body?: unknown } = () => ({ status: 200 }),
) {
  const requests: CatalogRequest[] = []
  const run = { ...TEST_RUN, config }
  const [mapping] = catalog.matching(name, events[0]!, config)
  const outcome = await catalog.deliverBatch(name, events, mapping!, run, async (request) => {
    requests.push(request)
    const { status, body = {} } = answer(request)
    return { status, statusText: '', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  return { requests, outcome }
}

describe('a run of several events', () => {
  test('is one request of the code, and every event is delivered', async () => {
    const config = { ...BRAZE, subscriptions: [brazeMapping()] }
    const { requests, outcome } = await deliver('CATALOG_BRAZE', config, [track(1), track(2), track(3)], () => ({
      status: 201,
      body: { message: 'success', events_processed: 3 },
    }))
    expect(requests.map(({ url }) => url)).toEqual(['https://rest.iad-01.braze.com/users/track'])
    const { events } = JSON.parse(requests[0]!.body) as { events: { external_id: string }[] }
    expect(events.map(({ external_id }) => external_id)).toEqual(['u-1', 'u-2', 'u-3'])
    expect('each' in outcome && outcome.each.map(({ kind }) => kind)).toEqual(Array(3).fill('delivered'))
  })

  test('an event that does not pass validation is refused alone, and not sent', async () => {
    const config = {
      ...BRAZE,
      subscriptions: [brazeMapping({ mapping: { name: { '@path': '$.properties.name' } } })],
    }
    const named = (n: number) => track(n, { properties: { name: `Seat ${n}` } })
    const { requests, outcome } = await deliver('CATALOG_BRAZE', config, [named(1), track(2), named(3)])
    const { events } = JSON.parse(requests[0]!.body) as { events: { name: string }[] }
    expect(events.map(({ name }) => name)).toEqual(['Seat 1', 'Seat 3'])
    expect('each' in outcome && outcome.each).toMatchObject([
      { kind: 'delivered' },
      { kind: 'abort', status: 400, stage: 'dest_transformation', text: expect.stringContaining("'name'") },
      { kind: 'delivered' },
    ])
  })

  test('a refusal of the whole request says the same about all of them, also where the code repeats it for each', async () => {
    const config = { ...BRAZE, subscriptions: [brazeMapping()] }
    const answered = async (status: number) =>
      (await deliver('CATALOG_BRAZE', config, [track(1), track(2)], () => ({ status }))).outcome
    expect(await answered(503)).toMatchObject({ all: { kind: 'retry', status: 503 }, mayBeAboutOne: false })
    expect(await answered(413)).toMatchObject({ all: { kind: 'abort', status: 413 }, mayBeAboutOne: true })
    expect(await answered(404)).toMatchObject({ all: { kind: 'abort', status: 404 }, mayBeAboutOne: false })
  })

  test('events whose batch keys differ run apart, and each gets the answer of its run', async () => {
    const mapping = {
      action: 'removeProfile',
      trigger: 'type = "track"',
      base: 'default',
      batch: true,
      mapping: { list_id: { '@path': '$.properties.list' }, email: { '@path': '$.properties.email' } },
    }
    const config = { api_key: 'key-of-klaviyo', subscriptions: [mapping] }
    const leaves = (n: number, list: string) => track(n, { properties: { list, email: `u-${n}@cinema.example` } })
    const events = [leaves(1, 'a'), leaves(2, 'b'), leaves(3, 'a')]
    const { requests, outcome } = await deliver('CATALOG_KLAVIYO', config, events, ({ url }) => {
      if (url.includes('/lists/b/')) return { status: 503 }
      return { status: 200, body: { data: [{ id: 'p-1' }, { id: 'p-3' }] } }
    })
    const lists = requests.flatMap(({ url }) => /\/lists\/(\w+)\//.exec(url)?.[1] ?? [])
    expect(lists).toEqual(['a', 'b'])
    expect('each' in outcome && outcome.each.map(({ kind }) => kind)).toEqual(['delivered', 'retry', 'delivered'])
  })

  test('the code gets events and settings of its own each time', async () => {
    const config = { ...BRAZE, subscriptions: [brazeMapping()] }
    const events = [track(1), track(2)]
    const before = structuredClone({ config, events })
    const first = await deliver('CATALOG_BRAZE', config, events)
    const second = await deliver('CATALOG_BRAZE', config, events)
    expect(second.requests.map(({ body }) => body)).toEqual(first.requests.map(({ body }) => body))
    expect({ config, events }).toEqual(before)
  })
})

describe('the size of a run', () => {
  const sizeOf = (name: string, mapping: JsonObject) => catalog.maxBatch(name, { subscriptions: [mapping] })

  test('is 100, less where the definition or the mapping says so, and 1 without `batch`', () => {
    expect(sizeOf('CATALOG_BRAZE', brazeMapping())).toBe(75)
    expect(sizeOf('CATALOG_BRAZE', brazeMapping({ mapping: { batch_size: 10 } }))).toBe(10)
    expect(sizeOf('CATALOG_BRAZE', brazeMapping({ batch: false }))).toBe(1)
    expect(sizeOf('CATALOG_WEBHOOK', { action: 'send', trigger: 'type = "track"', batch: true })).toBe(100)
    expect(catalog.maxBatch('CATALOG_BRAZE', {})).toBe(1)
  })

  test('37 entries have 101 actions that take several events', () => {
    const withBatches = catalog.names().map((name) => {
      return Object.values(catalog.actions(name).actions).filter(({ maxBatch }) => maxBatch !== undefined).length
    })
    expect(withBatches.filter((count) => count > 0)).toHaveLength(37)
    expect(withBatches.reduce((sum, count) => sum + count)).toBe(101)
  })

  test('`batch` is refused where the action takes one event', () => {
    const mapping = { action: 'postToChannel', trigger: 'type = "track"', batch: true }
    expect(catalog.faultsIn('CATALOG_SLACK', { subscriptions: [mapping] })).toEqual([
      { path: '/subscriptions/0/batch', message: 'must be false: the action postToChannel takes one event at a time' },
    ])
  })
})

test('events of another mapping or another audience have another key', () => {
  const config = { subscriptions: [brazeMapping(), brazeMapping()] }
  const [first, second] = catalog.matching('CATALOG_BRAZE', track(1), config)
  const ofAudience = (computation_id: string) => track(1, { context: { personas: { computation_id } } })
  const keys = [batchKey(track(1), first!), batchKey(track(1), second!), batchKey(ofAudience('a'), first!)]
  expect(new Set([...keys, batchKey(ofAudience('b'), first!)]).size).toBe(4)
  expect(batchKey(track(2, { context: { ip: '203.0.113.7' } }), first!)).toBe(keys[0])
})

const FACTS = { lastStatus: undefined, refused: undefined }
const ended = (thrown: Thrown): PooledEnd => ({ kind: 'ends', ends: [{ mapping: 0, requests: [], thrown }] })

test.each<[string, PooledEnd, { kind: string; status: number; mayBeAboutOne: boolean }]>([
  [
    'an error of its own',
    ended({ kind: 'status', status: 404, text: 'x' }),
    { kind: 'abort', status: 404, mayBeAboutOne: true },
  ],
  [
    'an answer 410',
    ended({ kind: 'answer', status: 410, text: 'x' }),
    { kind: 'abort', status: 410, mayBeAboutOne: false },
  ],
  [
    'an answer 422',
    ended({ kind: 'answer', status: 422, text: 'x' }),
    { kind: 'abort', status: 422, mayBeAboutOne: true },
  ],
  [
    'an answer 429',
    ended({ kind: 'answer', status: 429, text: 'x' }),
    { kind: 'retry', status: 429, mayBeAboutOne: false },
  ],
  [
    'a body that is too large',
    ended({ kind: 'bound', text: 'x' }),
    { kind: 'abort', status: 400, mayBeAboutOne: true },
  ],
  ['another thrown value', ended({ kind: 'code', text: 'x' }), { kind: 'abort', status: 500, mayBeAboutOne: true }],
  ['the deadline', { kind: 'late' }, { kind: 'retry', status: 504, mayBeAboutOne: false }],
  ['a crashed worker', { kind: 'crashed' }, { kind: 'retry', status: 504, mayBeAboutOne: false }],
  ['a full queue', { kind: 'busy' }, { kind: 'retry', status: 503, mayBeAboutOne: false }],
])('a whole run that ends with %s', (_name, end, { kind, status, mayBeAboutOne }) => {
  expect(batchOutcome(end, FACTS)).toMatchObject({ all: { kind, status }, mayBeAboutOne })
})

test('each result of a run has the class of its own status', () => {
  const results: EventEnd[] = [
    { status: 200, text: '', isInvalid: false },
    { status: 404, text: 'x', isInvalid: false },
    { status: 429, text: 'x', isInvalid: false },
    { status: 400, text: 'x', isInvalid: true },
    { thrown: { kind: 'answer', status: 400, text: 'x' } },
    { thrown: { kind: 'answer', status: 503, text: 'x' } },
  ]
  const outcome = batchOutcome(
    { kind: 'ends', ends: [{ mapping: 0, requests: [], thrown: undefined, results }] },
    FACTS,
  )
  expect('each' in outcome && outcome.each.map(({ kind, isFault }) => [kind, isFault])).toEqual([
    ['delivered', undefined],
    ['abort', undefined],
    ['retry', undefined],
    ['abort', undefined],
    // Which of the events is at fault shows when they run alone.
    ['retry', true],
    ['retry', undefined],
  ])
})
