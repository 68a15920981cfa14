import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'
import { Stats } from './stats.ts'
import { statsRoutes } from './stats-routes.ts'
import type { Figures } from './stats-step.ts'

// contracts/dashboard.md §4 N3. START is a multiple of 300 s.

const LOGGER = { info() {}, warn() {}, error() {} }
const time = (ms: number) => new Date(ms).toISOString()

/** What a gateway would count. */
class Ingest {
  readonly rejectedBySource = new Map<string, number>()
  readonly counts = new Map<string, { accepted: number; lastAt: number }>()

  sources() {
    return [...this.counts].map(([sourceId, counts]) => ({ sourceId, ...counts }))
  }
}

async function statsOf(run: PipelineUnderTest, ingest = new Ingest(), others: readonly PipelineUnderTest[] = []) {
  const { store, clock } = run
  const hosts = [run, ...others].map(({ delivery }) => delivery)
  const stats = new Stats({
    ingest,
    delivery: {
      counts: () => run.delivery.counts(),
      activity: async (ids) => (await Promise.all(hosts.map((host) => host.activity(ids)))).flat(),
    },
    store: store.statistics,
    clock,
    logger: LOGGER,
  })
  await stats.start()
  const ids = { source: ['s1'], transformation: ['t1'], destination: [...run.destinations.keys()] }
  const app = Fastify()
  await app.register(statsRoutes({ stats, clock, ids: (kind) => ids[kind] }))
  const get = async (query: Record<string, string | number>) => {
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)])
    const answer = await app.inject({ url: '/stats', query: Object.fromEntries(texts) })
    return { status: answer.statusCode, body: answer.json() }
  }
  return { stats, ingest, get }
}

test('each step has what happened in it, and null what is not known', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => Number(event['code'] ?? 200))
  await using _ = run
  const { get, ingest, stats } = await statsOf(run)
  await run.send(...tracks(3), track('bad', 'u', { code: 400 }))
  ingest.counts.set('s1', { accepted: 4, lastAt: START + 2 })
  await run.advance(10 * SECOND)
  ingest.rejectedBySource.set('s1', 2)
  await run.send(track('failing', 'v', { code: 500 }), track('out', 'w', { integrations: { All: false } }))
  await run.advance(10 * SECOND)
  const from = time(START - 10 * SECOND)
  const to = time(START + 30 * SECOND)
  const { status, body } = await get({ from, to, step: 10, by: 'reason' })
  expect(status).toBe(200)
  expect(body).toEqual({
    from,
    to,
    stepSeconds: 10,
    sources: [{ id: 's1', accepted: [null, 4, 0, null], refused: [null, 0, 2, null], lastEventAt: time(START + 2) }],
    transformations: [
      {
        id: 't1',
        in: [null, 0, 0, null],
        out: [null, 0, 0, null],
        errors: [null, 0, 0, null],
        p95Ms: [null, null, null, null],
      },
    ],
    destinations: [
      {
        id: 'd1',
        delivered: [null, 3, 0, null],
        filtered: [null, 0, 1, null],
        dropped: [null, 0, 0, null],
        deadLettered: [null, 1, 0, null],
        retries: [null, 0, expect.any(Number), null],
        waiting: [null, 0, 1, null],
        p50Ms: [null, expect.any(Number), expect.any(Number), null],
        p95Ms: [null, expect.any(Number), expect.any(Number), null],
        p99Ms: [null, expect.any(Number), expect.any(Number), null],
      },
    ],
    reasons: [
      { destinationId: 'd1', outcome: 'dead_lettered', reason: 'answered 400', count: 1 },
      { destinationId: 'd1', outcome: 'filtered', reason: 'integrations', count: 1 },
    ],
  })
  expect((await get({ from, to })).body.reasons).toBeUndefined()
  await stats.stop()
})

test('a step that goes on has what is known of it, and nothing is counted twice', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => Number(event['code'] ?? 200))
  await using _ = run
  const { get, ingest, stats } = await statsOf(run)
  const asked = async (step: number) => {
    const query = { from: time(START), to: time(START + 2 * step * SECOND), step, by: 'reason', destinationId: 'd1' }
    const { destinations, reasons } = (await get(query)).body
    const [{ delivered, deadLettered, p50Ms }] = destinations
    return { delivered, deadLettered, p50Ms, reasons: reasons.map(({ count }: { count: number }) => count) }
  }
  const [is, none] = [expect.any(Number), null]
  await run.send(...tracks(3, () => 'u', 'a'), track('bad', 'v', { code: 400 }))
  ingest.counts.set('s1', { accepted: 4, lastAt: START + 2 })
  await run.advance(4 * SECOND)
  const begun = { delivered: [3, none], deadLettered: [1, none], p50Ms: [is, none], reasons: [1] }
  for (const step of [10, 300]) expect(await asked(step)).toEqual(begun)
  expect((await get({ from: time(START), to: time(START + 20 * SECOND) })).body.sources[0].accepted).toEqual([4, none])
  await run.advance(6 * SECOND)
  for (const step of [10, 300]) expect(await asked(step)).toEqual(begun)
  await run.send(...tracks(2, () => 'u', 'b'))
  await run.advance(4 * SECOND)
  expect(await asked(10)).toEqual({ delivered: [3, 2], deadLettered: [1, 0], p50Ms: [is, is], reasons: [1] })
  expect(await asked(300)).toEqual({ ...begun, delivered: [5, none] })
  await run.advance(6 * SECOND)
  expect(await asked(10)).toEqual({ delivered: [3, 2], deadLettered: [1, 0], p50Ms: [is, is], reasons: [1] })
  await stats.stop()
})

test('a destination with several lanes has one row: what waits and how long calls took add up', async () => {
  const { run } = await PipelineUnderTest.withSink(200)
  await using _ = run
  const { run: other } = await PipelineUnderTest.withSink(500)
  await using __ = other
  const { stats } = await statsOf(run, new Ingest(), [other])
  await run.send(...tracks(3))
  await other.send(track('failing', 'u'), track('behind', 'u'))
  await run.advance(10 * SECOND)
  const range = { from: START, to: START + 10 * SECOND, stepMs: 10 * SECOND }
  const [[figures]] = (await stats.steps(range, [['destination', 'd1']])) as [[Figures]]
  expect(figures.waiting).toBe(2)
  expect(figures.durations.reduce((a, b) => a + b)).toBe(4)
  await stats.stop()
})

test('a transformation is told of by what goes in and out of it', async () => {
  const code = `export function transformEvent(event) {
    if (event.userId === 'bad') throw new Error('no')
    return event.userId === 'none' ? null : [event, event]
  }`
  const version = { transformationId: 't1', versionId: 'v1', language: 'javascript', code, libraries: [] } as const
  const { run } = await PipelineUnderTest.withSink(200, { d1: { transformations: [version] } })
  await using _ = run
  const { get, stats } = await statsOf(run)
  await run.send(track('a', 'u'), track('b', 'bad'), track('c', 'none'), track('d', 'u'))
  await run.advance(10 * SECOND)
  const { body } = await get({ from: time(START), to: time(START + 10 * SECOND), transformationId: 't1' })
  expect(body.sources).toEqual([])
  expect(body.destinations).toEqual([])
  expect(body.transformations).toEqual([{ id: 't1', in: [4], out: [4], errors: [1], p95Ms: [expect.any(Number)] }])
  await stats.stop()
})

test('steps of 300 s survive a restart, add up over it, and know when the server did not run', async () => {
  const { run } = await PipelineUnderTest.withSink(200)
  await using _ = run
  const first = await statsOf(run)
  await run.send(...tracks(2, () => 'u', 'a'))
  first.ingest.counts.set('s1', { accepted: 2, lastAt: START + 1 })
  await run.advance(6 * MINUTE)
  await run.send(...tracks(3, () => 'u', 'b'))
  await run.advance(4 * SECOND)
  await first.stats.stop()
  // Ten minutes without the server.
  await run.restart(() => run.clock.jump(10 * MINUTE))
  const second = await statsOf(run)
  await run.send(...tracks(4, () => 'u', 'c'))
  await run.advance(11 * SECOND)
  const query = { from: time(START), to: time(START + 20 * MINUTE), step: 300 }
  const delivered = (body: { destinations: { delivered: unknown }[] }) => body.destinations[0]!.delivered
  expect(delivered((await second.get(query)).body)).toEqual([2, 3, null, 4])
  expect((await second.get(query)).body.sources[0]).toMatchObject({
    accepted: [2, 0, null, 0],
    lastEventAt: time(START + 1),
  })
  await second.stats.stop()
  await run.restart()
  const third = await statsOf(run)
  await run.send(...tracks(5, () => 'u', 'd'))
  await run.advance(20 * SECOND)
  // Written before the restart and counted after it, in one step.
  expect(delivered((await third.get(query)).body)).toEqual([2, 3, null, 9])
  await third.stats.stop()
})

test('short steps are kept for an hour, long ones for 7 days', async () => {
  const { run } = await PipelineUnderTest.withSink(200)
  await using _ = run
  const { get, stats } = await statsOf(run)
  // The store's thread answers in order: what was to be written is written then.
  await run.clock.advance(2 * HOUR, async () => {
    for (let turn = 0; turn < 3; turn++) await run.store.statistics.lastEvents()
  })
  const known = async (query: { from: string; to: string; step: number }) => {
    const { body } = await get(query)
    return body.destinations[0].delivered.filter((count: number | null) => count !== null).length
  }
  const hour = (n: number) => time(START + n * HOUR)
  expect(await known({ from: hour(0), to: hour(1), step: 10 })).toBe(0)
  expect(await known({ from: hour(1), to: hour(2), step: 10 })).toBe(360)
  expect(await known({ from: hour(0), to: hour(2), step: 300 })).toBe(24)
  const dayStep = {
    kind: 'destination',
    id: 'd1',
    counts: [1, 0, 0, 0, 0],
    waiting: 0,
    durations: [1],
  } as const
  const write = { rows: [dayStep], reasons: [], lastEvents: [] }
  await run.store.statistics.add({ at: START + 168 * HOUR, ...write })
  expect(await known({ from: hour(0), to: hour(1), step: 300 })).toBe(12)
  await run.store.statistics.add({ at: START + 169 * HOUR, ...write })
  expect(await known({ from: hour(0), to: hour(2), step: 300 })).toBe(12)
  await stats.stop()
})

test.each([
  [{ from: 'yesterday' }, 'Invalid time in from'],
  [{ to: 'now' }, 'Invalid time in to'],
  [{ step: 60 }, 'Invalid step'],
  [{ by: 'source' }, 'Invalid by'],
  [{ from: time(START), to: time(START) }, 'from must be before to'],
  [{ from: time(START), to: time(START + HOUR + 1) }, 'At most 360 steps'],
  [{ from: time(START), to: time(START + 30 * HOUR + 1), step: 300 }, 'At most 360 steps'],
])('%o is refused with %s', async (query, message) => {
  await using run = await PipelineUnderTest.start()
  const { get, stats } = await statsOf(run)
  expect(await get(query as Record<string, string>)).toMatchObject({ status: 400, body: { message } })
  await stats.stop()
})
