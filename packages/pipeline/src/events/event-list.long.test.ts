import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { MemoryEventLog, SqliteEventLog } from '@millrace/log'
import { ManualClock } from '@millrace/std'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { deliveryRoutes } from '../http/routes.ts'
import { HOUR, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

interface Listed {
  readonly messageId: string
  readonly outcomes: { destinationId: string; outcome: string; reason: string | null }[]
}

async function routesOf(run: PipelineUnderTest) {
  const app = Fastify()
  await app.register(deliveryRoutes(run.delivery), { prefix: '/v2' })
  return async (url: string) => {
    const answer = await app.inject(url)
    return { status: answer.statusCode, body: answer.json() }
  }
}

/** Every page from `url` on: the messageIds, and how many calls it took. */
async function allPages(get: Awaited<ReturnType<typeof routesOf>>, url: string) {
  const ids: string[] = []
  let calls = 0
  for (let next = url; next !== ''; calls++) {
    const { status, body } = await get(next)
    expect(status).toBe(200)
    expect(body.paging.total).toBe(null)
    ids.push(...body.events.map(({ messageId }: Listed) => messageId))
    next = body.paging.next
  }
  return { ids, calls }
}

test('an accepted event is listed in the form of the contract, without its payload', async () => {
  const { run } = await PipelineUnderTest.withSink(202)
  await using _ = run
  await run.send(track('m-88', 'u-4711', { properties: { hall: 'B' } }))
  const get = await routesOf(run)
  expect(await get('/v2/events')).toEqual({
    status: 200,
    body: {
      events: [
        {
          messageId: 'm-88',
          sourceId: 's1',
          acceptedAt: '2026-03-04T09:00:00.000Z',
          type: 'track',
          name: 'Seat Reserved',
          userId: 'u-4711',
          anonymousId: null,
          outcomes: [{ destinationId: 'd1', outcome: 'delivered', reason: null }],
        },
      ],
      paging: { total: null, next: '' },
    },
  })
})

test('every filter keeps what it names, newest first', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'bad' ? 400 : 200), {
    sources: ['s1', 's2'],
  })
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url }, isEnabled: false })
  await run.send(track('old', 'u-1'), { type: 'page', name: 'Seats', messageId: 'seats', anonymousId: 'a' })
  await run.advance(HOUR)
  await run.accept([track('two', 'u-1'), track('bad', 'u-2', { event: 'Paid' })], { source: 's2' })
  await run.settle()
  await run.accept([track('backfilled')], { stream: 'backfill' })
  await run.settle()
  const get = await routesOf(run)
  const later = new Date(START + HOUR).toISOString()
  const CASES: Record<string, string[]> = {
    '': ['backfilled', 'bad', 'two', 'seats', 'old'],
    'sourceId=s2': ['bad', 'two'],
    'sourceId=nobody': [],
    'type=page': ['seats'],
    'name=Paid': ['bad'],
    'userId=u-1': ['two', 'old'],
    'outcome=dead_lettered': ['bad'],
    'outcome=filtered': ['backfilled', 'bad', 'two', 'seats', 'old'],
    'outcome=delivered': ['backfilled', 'two', 'seats', 'old'],
    'outcome=delivered&destinationId=d2': [],
    'outcome=filtered&destinationId=d1': [],
    'destinationId=d1&userId=u-1': ['two', 'old'],
    'destinationId=nobody': [],
    'outcome=pending': [],
    [`from=${later}`]: ['backfilled', 'bad', 'two'],
    [`to=${later}`]: ['seats', 'old'],
    [`from=${later}&to=${new Date(START + HOUR + 1).toISOString()}&type=track`]: ['backfilled', 'bad', 'two'],
  }
  for (const [query, expected] of Object.entries(CASES)) {
    for (const limit of [1, 2, 500])
      expect([query, (await allPages(get, `/v2/events?limit=${limit}&${query}`)).ids]).toEqual([query, expected])
  }
})

test('what is under way at a destination is shown as its lane has it', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'held' ? 'hang' : 503))
  await using _ = run
  await run.send(track('fails', 'u-1'), track('behind', 'u-1'), track('held', 'u-2'))
  const get = await routesOf(run)
  const outcomesOf = async (query: string) =>
    (await get(`/v2/events?${query}`)).body.events.map(({ messageId, outcomes }: Listed) => [
      messageId,
      outcomes[0]!.outcome,
    ])
  expect(await outcomesOf('')).toEqual([
    ['held', 'pending'],
    ['behind', 'blocked'],
    ['fails', 'retrying'],
  ])
  for (const [id, outcome] of await outcomesOf('')) {
    expect(await outcomesOf(`outcome=${outcome}&limit=1`)).toEqual([[id, outcome]])
  }
  expect(await outcomesOf('outcome=throttled')).toEqual([])
})

test('events that a destination has not taken up yet are pending there', async () => {
  const { run } = await PipelineUnderTest.withSink('hang')
  await using _ = run
  for (let batch = 0; batch < 3; batch++) await run.accept(tracks(500, () => '', `b${batch}`))
  await run.settle()
  expect(run.shard.deliveries.get('d1')!.lane.loaded).toBe(1_000)
  const get = await routesOf(run)
  expect((await allPages(get, '/v2/events?limit=400&outcome=pending')).ids.length).toBe(1_500)
  const { body } = await get('/v2/events?limit=1')
  expect(body.events[0].outcomes).toMatchObject([
    { destinationId: 'd1', outcome: 'pending', reason: null, waiting: { cause: 'turn' } },
  ])
})

test('pages visit every event once while more come, also when a record is cut between two pages', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  for (let batch = 0; batch < 7; batch++) await run.accept(tracks(50, () => '', `b${batch}`))
  await run.settle()
  const get = await routesOf(run)
  const seen: string[] = []
  for (let next = '/v2/events?limit=33', page = 0; next !== ''; page++) {
    const { body } = await get(next)
    seen.push(...body.events.map(({ messageId }: Listed) => messageId))
    next = body.paging.next
    await run.send(track(`new-${page}`))
  }
  expect(seen).toEqual(Array.from({ length: 350 }, (_, n) => `b${Math.floor(n / 50)}-${n % 50}`).toReversed())
})

test('several partitions are one list, newest first', async () => {
  const sources = ['s1', 's2', 's3', 's4', 's5', 's6']
  const log = new MemoryEventLog(3)
  const { run } = await PipelineUnderTest.withSink(200, { log, sources })
  await using _ = run
  for (let n = 0; n < 60; n++) {
    await run.accept([track(`m-${n}`), track(`n-${n}`)], { source: sources[n % 6]! })
    await run.advance(SECOND)
  }
  expect(new Set(sources.map((source) => run.partitionOf(source))).size).toBe(3)
  const get = await routesOf(run)
  const expected = Array.from({ length: 60 }, (_, n) => [`m-${n}`, `n-${n}`])
    .flat()
    .toReversed()
  for (const limit of [7, 500]) expect((await allPages(get, `/v2/events?limit=${limit}`)).ids).toEqual(expected)
  expect((await allPages(get, '/v2/events?limit=5&outcome=delivered&destinationId=d1')).ids).toEqual(expected)
  expect((await allPages(get, '/v2/events?limit=5&sourceId=s2')).ids.length).toBe(20)
})

test('the log in SQLite is looked back over through its segments, and a list that ends early begins near its end', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'millrace-events-'))
  const clock = new ManualClock(START)
  try {
    const log = await SqliteEventLog.open({ directory, clock, segmentBytes: 20_000 })
    const { run } = await PipelineUnderTest.withSink(200, { log, clock })
    await using _ = run
    for (let n = 0; n < 200; n++) {
      clock.jump(60 * SECOND)
      await run.accept([track(`m-${n}`)])
    }
    await run.settle()
    const get = await routesOf(run)
    const all = Array.from({ length: 200 }, (_, n) => `m-${n}`).toReversed()
    expect((await allPages(get, '/v2/events?limit=80')).ids).toEqual(all)
    const at = (n: number) => new Date(START + n * 60 * SECOND).toISOString()
    const { ids, calls } = await allPages(get, `/v2/events?from=${at(101)}&to=${at(104)}`)
    expect([ids, calls]).toEqual([['m-102', 'm-101', 'm-100'], 1])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('one call looks back for a second, and the next goes on where it stopped although nothing matched', async () => {
  const clock = new ManualClock(START)
  const log = new MemoryEventLog()
  const { run } = await PipelineUnderTest.withSink(200, { clock, log })
  await using _ = run
  await run.accept([track('rare', 'u-rare')])
  for (let batch = 0; batch < 40; batch++) await run.accept(tracks(500, () => 'u', `b${batch}`))
  await run.settle()
  const get = await routesOf(run)
  const readBack = log.readBack.bind(log)
  let reads = 0
  log.readBack = (...args) => {
    // As if each read took 0.4 s.
    void clock.advance(400)
    reads++
    return readBack(...args)
  }
  const { body } = await get('/v2/events?userId=u-rare')
  expect(reads).toBe(3)
  expect(body.events).toEqual([])
  expect(body.paging.next).toMatch('/v2/events?userId=u-rare&cursor=')
  expect((await allPages(get, body.paging.next)).ids).toEqual(['rare'])
})

const REFUSALS = [
  ['limit=0', 'Invalid limit'],
  ['limit=501', 'Invalid limit'],
  ['limit=x', 'Invalid limit'],
  ['page=2', 'Invalid cursor'],
  ['cursor=made-up', 'Invalid cursor'],
  [`cursor=${Buffer.from('dl.17').toString('base64url')}`, 'Invalid cursor'],
  [`cursor=${Buffer.from('ev.999-0').toString('base64url')}`, 'Invalid cursor'],
  [`cursor=${Buffer.from('ev.0-0.0-0').toString('base64url')}`, 'Invalid cursor'],
  ['from=yesterday', 'Invalid time in from'],
  ['to=tomorrow', 'Invalid time in to'],
  ['from=2026-03-04&to=2026-03-03', 'from must be before to'],
  ['type=click', 'Invalid type'],
  ['outcome=lost', 'Invalid outcome'],
] as const

test('what cannot be answered is refused as the contract says', async () => {
  await using run = await PipelineUnderTest.start()
  const get = await routesOf(run)
  for (const [query, message] of REFUSALS) {
    expect(await get(`/v2/events?${query}`), query).toMatchObject({ status: 400, body: { message } })
  }
  expect(await get('/v2/events')).toEqual({ status: 200, body: { events: [], paging: { total: null, next: '' } } })
})

test('at most nine calls look back or wait for it, and the next is told so', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('m'))
  const get = await routesOf(run)
  const statuses = (await Promise.all(Array.from({ length: 12 }, () => get('/v2/events')))).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(9).fill(200), 503, 503, 503])
  expect((await get('/v2/events')).status).toBe(200)
})
