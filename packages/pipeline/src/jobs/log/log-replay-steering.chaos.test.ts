import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SqliteEventLog } from '@millrace/log'
import { ManualClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { HOUR, PipelineUnderTest, SECOND, START } from '../../testing/pipeline-under-test.ts'
import { RoutesUnderTest, withNewDestination } from '../../testing/routes-under-test.ts'
import { Sink } from '../../testing/sink.ts'
import { track, tracks } from '../../testing/test-events.ts'

const time = (ms: number) => new Date(ms).toISOString()
const RANGE = { sourceIds: ['s1'], destinationIds: ['d2'], from: time(START), to: time(START + 24 * HOUR) }

const folder = mkdtempSync(path.join(tmpdir(), 'millrace-replays-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('pausing, restarting and resuming a replay of the log continues where it was', async () => {
  const { run, other, routes } = await withNewDestination(300)
  await using _ = run
  const { id } = await routes.replayLog(RANGE)
  await run.advance(SECOND)
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/pause`)
  expect([status, body.replay]).toMatchObject([200, { id, state: 'paused', matched: 300, taken: 110 }])
  await run.advance(HOUR)
  await run.restart()
  await run.advance(HOUR)
  expect(other.arrivals.length).toBe(110)
  expect((await routes.call('POST', `/v2/replays/${id}/resume`)).status).toBe(200)
  await run.advance(5 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', taken: 300, delivered: 300 })
  expect(new Set(other.messageIds).size).toBe(300)
  expect(other.arrivals.length).toBe(300)
})

test('a wait of a replay survives a restart with its attempts, and is no wait of the live stream', async () => {
  const { run, other, routes } = await withNewDestination(1)
  await using _ = run
  other.answer = ({ n }) => (n < 4 ? 500 : 200)
  const { id } = await routes.replayLog(RANGE)
  await run.advance(8 * SECOND)
  await run.restart()
  const journey = (await run.trace('m-0'))['d2']!
  expect(journey).toMatchObject({ outcome: 'retrying', replayId: id })
  await run.advance(HOUR)
  expect((await run.trace('m-0'))['d2']!.requests[0]!.attempts.map(({ n }) => n)).toEqual([1, 2, 3, 4])
  expect(await routes.replay(id)).toMatchObject({ state: 'done', delivered: 1 })
})

test('a cancelled replay sends nothing more, also after a restart, and what it delivered stays delivered', async () => {
  const { run, other, routes } = await withNewDestination(100)
  await using _ = run
  other.answer = ({ event }) => (Number(event.messageId.slice(2)) < 5 ? 200 : 500)
  const { id } = await routes.replayLog(RANGE)
  await run.advance(300)
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/cancel`)
  expect([status, body.replay]).toMatchObject([200, { state: 'cancelled', taken: 40, delivered: 5 }])
  const attempts = other.arrivals.length
  await run.advance(HOUR)
  await run.restart()
  await run.advance(HOUR)
  expect(other.arrivals.length).toBe(attempts)
  expect(await run.delivery.waiting({})).toBe(0)
  expect((await run.trace('m-2'))['d2']).toMatchObject({ outcome: 'delivered', replayId: id })
  expect((await run.trace('m-20'))['d2']).toBe(undefined)
})

test('what a replay has taken up for a destination ends with it, and the replay is done', async () => {
  const { run, other, routes } = await withNewDestination(50)
  await using _ = run
  other.answer = () => 500
  const { id } = await routes.replayLog(RANGE)
  run.destinations.delete('d2')
  run.connections.delete('s1-d2')
  await run.configure()
  await run.advance(SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 50, taken: 10, delivered: 0 })
})

test('a replay holds what it still needs in the log', async () => {
  const clock = new ManualClock(START)
  const log = await SqliteEventLog.open({ directory: folder, clock, segmentMs: 0 })
  const { run } = await PipelineUnderTest.withSink(200, { clock, log, logKeepMs: HOUR })
  await using _ = run
  for (let n = 0; n < 6; n++) await run.send(track(`m-${n}`))
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.replayLog({ ...RANGE, rateEventsPerSecond: 1 })
  await routes.call('POST', `/v2/replays/${id}/pause`)
  await run.advance(4 * HOUR)
  expect(await log.oldest(0)).toMatchObject({ acceptedAt: START })
  await routes.call('POST', `/v2/replays/${id}/resume`)
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', delivered: 6 })
  // Nobody needs it any more.
  await run.advance(4 * HOUR)
  const oldest = await log.oldest(0)
  expect(oldest?.acceptedAt).not.toBe(START)
})

test('a replay says that the log has lost a part of its range, and a replay of another range does not', async () => {
  const clock = new ManualClock(START)
  const directory = path.join(folder, 'damaged')
  const log = await SqliteEventLog.open({ directory, clock, segmentMs: 0, cacheBytes: 0 })
  const { run } = await PipelineUnderTest.withSink(200, { clock, log })
  await using _ = run
  await run.send(...tracks(3, () => '', 'early'))
  await run.advance(2 * HOUR)
  // So many records that none of them is near the damage and the early ones.
  await Promise.all(Array.from({ length: 200 }, (_, n) => run.accept([track(`middle-${n}`)])))
  await run.advance(2 * HOUR)
  const lost = await run.accept([track('lost')])
  await run.advance(2 * HOUR)
  await run.send(track('last'))
  writeFileSync(path.join(directory, `${lost}.db`), Buffer.alloc(20_000, 0x55))
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  const routes = new RoutesUnderTest(run)
  const whole = await routes.replayLog({ ...RANGE, rateEventsPerSecond: 1_000 })
  await run.advance(10 * SECOND)
  expect(await routes.replay(whole.id)).toMatchObject({ state: 'done', matched: 204, delivered: 204, damaged: true })
  const early = await routes.replayLog({ ...RANGE, to: time(START + HOUR), dryRun: true })
  expect(early).toMatchObject({ matched: 3, damaged: false })
})

test('a young installation is replayed from its beginning, whatever time the range begins at', async () => {
  const { run, other, routes } = await withNewDestination(3)
  await using _ = run
  const { id } = await routes.replayLog({ ...RANGE, from: time(START - 168 * HOUR) })
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 3, delivered: 3 })
  expect(other.arrivals.length).toBe(3)
})

const OTHER = { ...RANGE, sourceIds: ['s2'] }
const REFUSED: [string, object, number, string][] = [
  ['without from', { ...RANGE, from: undefined }, 400, 'Invalid time in from'],
  ['with a to that is no time', { ...RANGE, to: 'tomorrow' }, 400, 'Invalid time in to'],
  ['with from at to', { ...RANGE, to: RANGE.from }, 400, 'from must be before to'],
  ['without sources', { ...RANGE, sourceIds: [] }, 400, 'Invalid sourceIds'],
  ['without destinations', { ...RANGE, destinationIds: undefined }, 400, 'Invalid destinationIds'],
  ['of rate 0', { ...RANGE, rateEventsPerSecond: 0 }, 400, 'Invalid rateEventsPerSecond'],
  ['of a negative rate', { ...RANGE, rateEventsPerSecond: -1 }, 400, 'Invalid rateEventsPerSecond'],
  ['of rate 10,001', { ...RANGE, rateEventsPerSecond: 10_001 }, 400, 'Invalid rateEventsPerSecond'],
  ['of a rate in words', { ...RANGE, rateEventsPerSecond: '5' }, 400, 'Invalid rateEventsPerSecond'],
  ['of an unknown type', { ...RANGE, filter: { types: ['click'] } }, 400, 'Invalid types'],
  ['of an outcome that is not final', { ...RANGE, filter: { outcomes: ['pending'] } }, 400, 'Invalid outcomes'],
  ['of an unknown filter', { ...RANGE, filter: { user: ['u'] } }, 400, 'Unknown member: user'],
  ['with an unknown member', { ...RANGE, rate: 5 }, 400, 'Unknown member: rate'],
  ['of another source', OTHER, 400, 'Destination with id d2 is not connected to the given sources'],
  [
    'to an unknown destination',
    { ...RANGE, destinationIds: ['d9'] },
    400,
    'Destination with id d9 is not connected to the given sources',
  ],
  ['to a disabled destination', { ...RANGE, destinationIds: ['d1'] }, 409, 'Destination with id d1 is disabled'],
]

test('a replay that cannot be is refused with its text', async () => {
  const { run, routes } = await withNewDestination(1)
  await using _ = run
  await run.change('d1', { isEnabled: false })
  for (const [what, body, status, message] of REFUSED) {
    const answer = await routes.call('POST', '/v2/replays', body)
    expect([what, answer.status, answer.body.message]).toEqual([what, status, message])
  }
  expect((await routes.call('GET', '/v2/replays')).body.replays).toEqual([])
})

test('outcomes are refused where traces of the range have been dropped, and told from when on there are some', async () => {
  const { run } = await PipelineUnderTest.withSink(200, { traces: { keepMs: HOUR, maxBytes: 1024 ** 3 } })
  await using _ = run
  await run.send(track('a'))
  await run.advance(3 * HOUR)
  await run.send(track('b'))
  const routes = new RoutesUnderTest(run)
  const body = { ...RANGE, destinationIds: ['d1'], filter: { outcomes: ['delivered'] } }
  const { status, body: answer } = await routes.call('POST', '/v2/replays', body)
  expect([status, answer.message]).toEqual([409, 'Range is older than the traces'])
  expect(await routes.replayLog({ ...body, from: time(START + HOUR * 3), dryRun: true })).toMatchObject({ matched: 1 })
  // Without them it is good.
  expect(await routes.replayLog({ ...body, filter: {}, dryRun: true })).toMatchObject({ matched: 2 })
})
