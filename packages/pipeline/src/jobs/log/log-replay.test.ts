import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from '../../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../../testing/routes-under-test.ts'
import { Sink } from '../../testing/sink.ts'
import { track, tracks } from '../../testing/test-events.ts'

const time = (ms: number) => new Date(ms).toISOString()
const RANGE = { sourceIds: ['s1'], destinationIds: ['d1'], from: time(START), to: time(START + 24 * HOUR) }

function arrived(sink: Sink, messageId: string) {
  return sink.arrivals.find(({ event }) => event.messageId === messageId)!.event
}

/** A pipeline whose destination `d1` has got everything, and a destination `d2` that came later. */
async function withNewDestination(events: readonly object[]) {
  const { run, sink } = await PipelineUnderTest.withSink()
  await run.send(...events)
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  return { run, sink, other, routes: new RoutesUnderTest(run) }
}

test('a replay delivers what lies in the range to a new destination, at no more than the rate, and says so in traces', async () => {
  const { run, sink, other, routes } = await withNewDestination(tracks(300))
  await using _ = run
  const replay = await routes.replayLog({ ...RANGE, destinationIds: ['d2'], rateEventsPerSecond: 50 })
  expect(replay).toMatchObject({
    ...{ origin: 'log', kind: 'replay', state: 'running', matched: 300, dryRun: false, rateEventsPerSecond: 50 },
    ...{ sourceIds: ['s1'], destinationIds: ['d2'], from: RANGE.from, to: RANGE.to },
    ...{ createdBy: 'ops@cinema.example', finishedAt: null },
  })
  for (let second = 1; second <= 7; second++) {
    expect(other.arrivals.length).toBe(Math.min(300, 5 + (second - 1) * 50))
    await run.advance(SECOND)
  }
  expect(await routes.replay(replay.id)).toMatchObject({ state: 'done', matched: 300, taken: 300, delivered: 300 })
  expect(other.messageIds.toSorted()).toEqual(sink.messageIds.toSorted())
  expect(arrived(other, 'm-7')).toEqual(arrived(sink, 'm-7'))
  expect((await run.trace('m-7'))['d2']).toMatchObject({ outcome: 'delivered', replayId: replay.id })
  expect((await run.trace('m-7'))['d1']).toMatchObject({ outcome: 'delivered', replayId: null })
  expect(routes.audited).toMatchObject([{ action: 'create', kind: 'replay', resourceId: replay.id }])
  expect(await run.delivery.waiting({})).toBe(0)
})

test('what is delivered a second time stands in the trace beside the first', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('m', 'u'), track('n', 'u'))
  sink.answer = ({ n }) => (n === 2 ? 500 : n === 3 ? 200 : 404)
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.replayLog({ ...RANGE, filter: { messageIds: ['m'] } })
  const journeys = async () => {
    const [event] = (await run.delivery.trace('m')) as { destinations: object[] }[]
    return event!.destinations
  }
  expect(await journeys()).toMatchObject([
    { outcome: 'delivered', replayId: null },
    { outcome: 'retrying', replayId: id },
  ])
  await run.advance(10 * SECOND)
  expect(await journeys()).toMatchObject([
    { outcome: 'delivered', replayId: null },
    { outcome: 'delivered', replayId: id, requests: [{ attempts: [{ status: 500 }, { status: 200 }] }] },
  ])
  // Once more, and refused for good.
  const again = await routes.replayLog({ ...RANGE, filter: { messageIds: ['m'] } })
  await run.settle()
  expect(await routes.replay(again.id)).toMatchObject({ state: 'done', taken: 1, delivered: 0, deadLettered: 1 })
  expect(await journeys()).toMatchObject([
    { outcome: 'delivered', replayId: null },
    { outcome: 'delivered', replayId: id },
    { outcome: 'dead_lettered', replayId: again.id },
  ])
  const [letter] = await run.deadLetters()
  expect(letter).toMatchObject({ reason: 'answered 404', acceptedAt: START, replayId: again.id })
  expect(sink.messageIds).toEqual(['m', 'n', 'm', 'm', 'm'])
})

const FILTERED: [object, string[]][] = [
  [{}, ['a', 'b', 'c', 'd', 'e']],
  [{ types: [], events: [], userIds: [], messageIds: [], outcomes: [] }, ['a', 'b', 'c', 'd', 'e']],
  [{ types: ['page', 'identify'] }, ['c', 'd']],
  [{ events: ['Seat Reserved', 'Start'] }, ['a', 'c']],
  [{ userIds: ['u', '7'] }, ['a', 'd', 'e']],
  [{ messageIds: ['b', 'e', 'none'] }, ['b', 'e']],
  [{ types: ['track'], events: ['Seat Reserved'], userIds: ['u'], messageIds: ['a', 'e'] }, ['a']],
]

test('a filter selects exactly what it says, and a dry run only counts', async () => {
  const { run, other, routes } = await withNewDestination([
    track('a', 'u'),
    { type: 'track', event: 'Seat Left', messageId: 'b', userId: 'v' },
    { type: 'page', name: 'Start', messageId: 'c', anonymousId: 'x' },
    { type: 'identify', messageId: 'd', userId: 7 },
    { type: 'track', event: 'Other', messageId: 'e', userId: 'u' },
  ])
  await using _ = run
  for (const [filter, expected] of FILTERED) {
    const before = other.arrivals.length
    const body = { ...RANGE, destinationIds: ['d2'], filter }
    const counted = await routes.replayLog({ ...body, dryRun: true })
    expect(counted).toMatchObject({ state: 'done', dryRun: true, matched: expected.length, taken: 0 })
    expect(other.arrivals.length).toBe(before)
    await routes.replayLog(body)
    expect([filter, other.messageIds.slice(before).toSorted()]).toEqual([filter, expected])
  }
})

test('outcomes are those at the destination that the event is to go to', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'refused' ? 400 : 200))
  await using _ = run
  await run.send(track('good'), track('refused'), track('left-out', 'u', { integrations: { All: false } }))
  sink.answer = () => 200
  const routes = new RoutesUnderTest(run)
  const dryRun = async (outcomes: string[]) =>
    (await routes.replayLog({ ...RANGE, filter: { outcomes }, dryRun: true })).matched
  expect(await dryRun(['delivered'])).toBe(1)
  expect(await dryRun(['filtered', 'dead_lettered'])).toBe(2)
  expect(await dryRun(['expired', 'duplicate'])).toBe(0)
  await routes.replayLog({ ...RANGE, filter: { outcomes: ['dead_lettered'] } })
  expect(sink.messageIds).toEqual(['good', 'refused', 'refused'])
})

test('from and to are times of acceptance, the first inside the range and the second outside', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  for (let second = 0; second < 5; second++) {
    await run.send(track(`m-${second}`))
    await run.advance(SECOND)
  }
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  const routes = new RoutesUnderTest(run)
  const range = { from: time(START + SECOND), to: time(START + 4 * SECOND) }
  await routes.replayLog({ ...RANGE, destinationIds: ['d2'], ...range })
  expect(other.messageIds).toEqual(['m-1', 'm-2', 'm-3'])
})

test('replayed events pass the filters of today, and those left out are counted and traced', async () => {
  const { run, other, routes } = await withNewDestination([
    track('a'),
    { type: 'track', event: 'Seat Left', messageId: 'b' },
    track('c', 'u', { integrations: { d2: false } }),
  ])
  await using _ = run
  const config = { eventFilteringOption: 'whitelistedEvents', whitelistedEvents: [{ eventName: 'Seat Reserved' }] }
  await run.change('d2', { config: { webhookUrl: other.url, ...config } })
  const { id } = await routes.replayLog({ ...RANGE, destinationIds: ['d2'] })
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 3, taken: 3, delivered: 1, filtered: 2 })
  expect(other.messageIds).toEqual(['a'])
  expect((await run.trace('b'))['d2']).toMatchObject({ outcome: 'filtered', reason: 'event filter', replayId: id })
  expect((await run.trace('c'))['d2']).toMatchObject({ outcome: 'filtered', reason: 'integrations', replayId: id })
})

test('backfill is replayed with the others, in the order of their acceptance', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  for (let n = 0; n < 6; n++) await run.accept([track(`m-${n}`)], { stream: n % 2 === 0 ? 'live' : 'backfill' })
  await run.settle()
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url }, delivery: { concurrency: 1 } })
  const routes = new RoutesUnderTest(run)
  await routes.replayLog({ ...RANGE, destinationIds: ['d2'] })
  expect(other.messageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5'])
})

test('the events of one user keep their order, and one that fails holds back only those behind it', async () => {
  const { run, other, routes } = await withNewDestination(tracks(40, (n) => `u-${n % 4}`))
  await using _ = run
  other.answer = ({ event, n }) => (event.messageId === 'm-0' && n === 1 ? 500 : 200)
  const { id } = await routes.replayLog({ ...RANGE, destinationIds: ['d2'] })
  await run.advance(SECOND)
  expect(other.arrivals.length).toBe(31)
  await run.advance(MINUTE)
  for (let user = 0; user < 4; user++) {
    const ofUser = other.messageIds.filter((messageId) => Number(messageId.slice(2)) % 4 === user)
    const expected = Array.from({ length: 10 }, (_, n) => `m-${4 * n + user}`)
    expect(ofUser).toEqual(user === 0 ? ['m-0', ...expected] : expected)
  }
  expect(await routes.replay(id)).toMatchObject({ state: 'done', delivered: 40 })
})

test('live events go before replayed ones, whatever the replay has taken up', async () => {
  const { run, other, routes } = await withNewDestination(tracks(400))
  await using _ = run
  await run.change('d2', { delivery: { concurrency: 4 } })
  other.answer = () => 'hang'
  await routes.replayLog({ ...RANGE, destinationIds: ['d2'], rateEventsPerSecond: 10_000 })
  await run.advance(SECOND)
  // At most half of what may be in flight is the replay's.
  expect(other.held).toBe(2)
  await run.send(...tracks(2, () => '', 'live'))
  expect(other.messageIds.slice(-2).toSorted()).toEqual(['live-0', 'live-1'])
  other.release()
  await run.advance(10 * SECOND)
  expect(other.arrivals.length).toBe(402)
})

test('what a destination has still to get by itself is not replayed to it', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event, n }) =>
    event.messageId === 'first' && n === 1 ? 500 : event.messageId === 'held' ? 'hang' : 200,
  )
  await using _ = run
  await run.send(track('first', 'u'), track('behind', 'u'), track('held', 'v'), track('free', 'w'))
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.replayLog(RANGE)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 4, taken: 1, delivered: 1 })
  sink.release()
  await run.advance(MINUTE)
  const times = Map.groupBy(sink.messageIds, (messageId) => messageId)
  expect(['first', 'behind', 'held', 'free'].map((each) => times.get(each)!.length)).toEqual([2, 1, 1, 2])
})

test('events that come in after the call are none of the replay', async () => {
  const { run, other, routes } = await withNewDestination(tracks(100))
  await using _ = run
  const { id } = await routes.replayLog({ ...RANGE, destinationIds: ['d2'] })
  await run.send(track('later'))
  await run.advance(MINUTE)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 100, delivered: 100 })
  expect(other.messageIds.filter((each) => each === 'later')).toHaveLength(1)
})
