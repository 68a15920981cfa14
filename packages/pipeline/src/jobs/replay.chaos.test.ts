import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track, tracks } from '../testing/test-events.ts'

const ALL = { filter: { state: 'open' } }

test('one is replayed with the configuration of today, and is resolved', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(410)
  await using _ = run
  await run.send(track('m', 'u', { properties: { hall: 'B' } }))
  const other = run.own(await Sink.start(200))
  await run.change('d1', { config: { webhookUrl: other.url } })
  await run.advance(HOUR)
  const routes = new RoutesUnderTest(run)
  const { id } = (await run.deadLetters())[0]!
  const { status, body } = await routes.call('POST', `/v2/dead-letters/${id}/replay`)
  expect([status, body]).toEqual([202, { replayId: expect.stringMatching(/^[0-9A-Za-z]{27}$/) }])
  await run.settle()
  expect(other.arrivals[0]!.event).toEqual(sink.arrivals[0]!.event)
  expect([sink.arrivals.length, other.arrivals.length]).toEqual([1, 1])
  const { deadLetter } = (await routes.call('GET', `/v2/dead-letters/${id}`)).body
  expect(deadLetter).toMatchObject({ state: 'resolved', attempts: 2, lastStatus: 200, messageId: 'm' })
  expect(deadLetter.history.map(({ n, status }: { n: number; status: number }) => [n, status])).toEqual([
    [1, 410],
    [2, 200],
  ])
  const journey = (await run.trace('m'))['d1']!
  expect(journey).toMatchObject({ outcome: 'delivered', reason: null, replayId: body.replayId })
  expect((await run.state()).deadLettersOpen).toBe(0)
  expect(await routes.replay(body.replayId)).toMatchObject({
    kind: 'replay',
    state: 'done',
    matched: 1,
    taken: 1,
    delivered: 1,
    destinationIds: ['d1'],
  })
  expect(routes.audited).toEqual([
    {
      action: 'replay',
      kind: 'dead-letter',
      resourceId: id,
      diff: [{ path: '/replayId', from: null, to: body.replayId }],
    },
  ])
})

test('one that fails again is open again under its id, with the new history added and a fresh count of attempts', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) => (n <= 2 ? 503 : 410))
  await using _ = run
  await run.send(track('m'))
  await run.advance(HOUR)
  const before = (await run.deadLetters())[0]!
  expect([before.attempts, before.reason]).toEqual([3, 'answered 410'])
  sink.answer = ({ n }) => (n <= 5 ? 500 : 404)
  const routes = new RoutesUnderTest(run)
  const { body } = await routes.call('POST', `/v2/dead-letters/${before.id}/replay`)
  await run.settle()
  expect((await routes.call('GET', `/v2/dead-letters/${before.id}`)).body.deadLetter.state).toBe('replaying')
  expect(await run.outcome('m')).toBe('retrying')
  // The waits are those of a first and a second attempt.
  await run.advance(30 * SECOND)
  expect(sink.arrivals.length).toBe(6)
  const { deadLetter } = (await routes.call('GET', `/v2/dead-letters/${before.id}`)).body
  expect(deadLetter).toMatchObject({
    id: before.id,
    state: 'open',
    reason: 'answered 404',
    attempts: 6,
    lastStatus: 404,
  })
  expect(deadLetter.history.map(({ n, status }: { n: number; status: number }) => [n, status])).toEqual([
    [1, 503],
    [2, 503],
    [3, 410],
    [4, 500],
    [5, 500],
    [6, 404],
  ])
  expect(await run.trace('m')).toMatchObject({ d1: { outcome: 'dead_lettered', replayId: body.replayId } })
  expect(await routes.replay(body.replayId)).toMatchObject({ state: 'done', delivered: 0, deadLettered: 1 })
  expect((await run.state()).deadLettersOpen).toBe(1)
})

test('several by filter, those named, and all of them are replayed; a dry run only counts', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url.replace('/in', '/two') } })
  await run.send(...tracks(30, (n) => `u-${n % 3}`))
  const routes = new RoutesUnderTest(run)
  sink.answer = () => 200
  const counted = await routes.job('/v2/dead-letters/replay', { ...ALL, dryRun: true })
  expect(counted).toMatchObject({ kind: 'replay', dryRun: true, state: 'done', matched: 60, taken: 0 })
  const before = sink.arrivals.length
  await run.advance(SECOND)
  expect(sink.arrivals.length).toBe(before)
  const some = await routes.job('/v2/dead-letters/replay', { filter: { destinationId: 'd2', userId: 'u-1' } })
  await run.advance(SECOND)
  const counts = { matched: 10, taken: 10, delivered: 10 }
  expect(await routes.replay(some.id)).toMatchObject({ state: 'done', ...counts, destinationIds: ['d2'] })
  expect(sink.arrivals.slice(before).map(({ path }) => path)).toEqual(Array(10).fill('/two'))
  const ids = (await run.deadLetters({ destinationId: 'd1', messageId: 'm-4' })).map(({ id }) => id)
  expect(await routes.job('/v2/dead-letters/replay', { ids: [...ids, ...ids] })).toMatchObject({ delivered: 1 })
  const all = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  expect(await routes.replay(all.id)).toMatchObject({ state: 'done', matched: 49, delivered: 49 })
  expect(await run.deadLetters()).toEqual([])
  expect(routes.audited).toHaveLength(3)
})

test('what a filter of today leaves out ends as filtered', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'), track('n', '', { event: 'Kept' }))
  sink.answer = () => 200
  await run.change('d1', {
    config: {
      webhookUrl: sink.url,
      eventFilteringOption: 'whitelistedEvents',
      whitelistedEvents: [{ eventName: 'Kept' }],
    },
  })
  const job = await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  expect(job).toMatchObject({ state: 'done', matched: 2, taken: 2, delivered: 1, filtered: 1 })
  expect(await run.outcome('m')).toBe('filtered: event filter')
  expect(await run.outcome('n')).toBe('delivered')
  expect((await run.state()).deadLettersOpen).toBe(0)
})

test('the order per user is kept, through retries, within a replay', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  // The retries of the first of each user have it die after the others of its batch.
  sink.answer = ({ event, n }) => (event.messageId.endsWith('-0') && n < 3 ? 503 : 400)
  for (let batch = 0; batch < 5; batch++) await run.send(...tracks(40, (n) => `u-${n % 4}`, `b${batch}`))
  await run.advance(5 * MINUTE)
  const routes = new RoutesUnderTest(run)
  const before = sink.arrivals.length
  let attempts = 0
  sink.answer = () => (++attempts % 10 === 0 ? 500 : 200)
  const job = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(30 * MINUTE)
  expect(await routes.replay(job.id)).toMatchObject({ state: 'done', delivered: 200 })
  const orders = new Map<string, string[]>()
  for (const { event } of sink.arrivals.slice(before)) {
    const order = orders.get(event.userId!) ?? []
    if (order.at(-1) !== event.messageId) order.push(event.messageId)
    orders.set(event.userId!, order)
  }
  for (let user = 0; user < 4; user++) {
    const expected = Array.from({ length: 5 }, (_, batch) =>
      Array.from({ length: 10 }, (_, i) => `b${batch}-${i * 4 + user}`),
    ).flat()
    expect(orders.get(`u-${user}`)).toEqual(expected)
  }
})

test.each([
  ['100 events a second', {}, 100],
  ['as many as it is told', { rateEventsPerSecond: 150 }, 150],
])('a replay takes at most %s', async (_text, told, rate) => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(1_000))
  sink.answer = () => 200
  await new RoutesUnderTest(run).job('/v2/dead-letters/replay', { ...ALL, ...told })
  for (let second = 1; second <= 5; second++) {
    await run.advance(SECOND - 1)
    expect(sink.arrivals.length - 1_000).toBe(rate * second)
    await run.advance(1)
  }
  await run.advance(10 * SECOND)
  expect(sink.arrivals.length).toBe(2_000)
})

test('live events go at once, and are not waited behind a replay that gets no answer', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: { delivery: { concurrency: 8 } } })
  await using _ = run
  await run.send(...tracks(50, () => 'u-1', 'dead'), ...tracks(50, (n) => `v-${n}`, 'dead-too'))
  sink.answer = ({ event }) => (event.messageId.startsWith('dead') ? 'hang' : 200)
  await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  expect(sink.held).toBe(4)
  // Also those of the very users whose dead letters are under way.
  await run.send(...tracks(20, () => 'u-1', 'live'), ...tracks(20, (n) => `v-${n}`, 'live-too'))
  expect(sink.messageIds.filter((id) => id.startsWith('live')).length).toBe(40)
})

test('dead letters that fail again do not have the destination rest', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(60, () => '', 'dead'))
  sink.answer = ({ event }) => (event.messageId.startsWith('dead') ? 500 : 200)
  await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  expect((await run.state()).state).toBe('ok')
  await run.send(track('live'))
  expect(await run.outcome('live')).toBe('delivered')
  // They are given up like any event, in their own time.
  await run.advance(3 * HOUR)
  expect((await run.deadLetters()).length).toBeLessThan(60)
  await run.advance(HOUR)
  expect((await run.deadLetters()).map(({ reason }) => reason)).toEqual(Array(60).fill('retry limit reached'))
})

test('half of a throttle is left for live events', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(60, () => '', 'dead'))
  sink.answer = () => 200
  await run.change('d1', { delivery: { throttle: { limit: 10, windowSeconds: 60 } } })
  const before = sink.arrivals.length
  await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  await run.advance(30 * SECOND)
  expect(sink.arrivals.length - before).toBe(5)
  await run.send(...tracks(5, () => '', 'live'))
  expect(sink.messageIds.slice(before + 5)).toEqual(
    tracks(5, () => '', 'live').map((event) => (event as { messageId: string }).messageId),
  )
  await run.advance(MINUTE)
  expect(sink.arrivals.length - before).toBeLessThanOrEqual(20)
})

test('a destination that never answers does not hold up the others of the same replay', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url.replace('/in', '/two') } })
  await run.send(...tracks(50))
  sink.answer = ({ path }) => (path === '/two' ? 200 : 'hang')
  const job = await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  await run.advance(5 * SECOND)
  expect((await run.delivery.jobs.get(job.id))!).toMatchObject({ state: 'running', delivered: 50 })
  expect(await run.deadLetters({ destinationId: 'd2', state: 'resolved' })).toHaveLength(50)
})

test('what waits in a replay ends with its destination, connection or source', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url } })
  await run.send(...tracks(20))
  sink.answer = () => 500
  const routes = new RoutesUnderTest(run)
  const job = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(20)
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  const attempts = sink.arrivals.length
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.deadLetters({ state: 'discarded' })).toHaveLength(40)
  expect(await run.deadLetters({ state: 'replaying' })).toEqual([])
  expect(await routes.replay(job.id)).toMatchObject({ state: 'done', taken: 40, delivered: 0, deadLettered: 0 })
  expect(await run.outcome('m-0', 'd1')).toBe('discarded: destination was removed')
  expect(await run.outcome('m-0', 'd2')).toBe('discarded: connection was removed')
})

test('what cannot be replayed is refused as the contract says', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(4))
  const routes = new RoutesUnderTest(run)
  const ids = (await run.deadLetters()).map(({ id }) => id)
  await routes.call('DELETE', `/v2/dead-letters/${ids[0]}`)
  sink.answer = () => 200
  await routes.call('POST', `/v2/dead-letters/${ids[1]}/replay`)
  await run.settle()
  sink.answer = () => 'hang'
  const [first, second] = await Promise.all([
    routes.call('POST', `/v2/dead-letters/${ids[2]}/replay`),
    routes.call('POST', `/v2/dead-letters/${ids[2]}/replay`),
  ])
  expect([first.status, second.status].toSorted()).toEqual([202, 409])
  const refused = async (url: string, body?: object) => {
    const { status, body: answer } = await routes.call('POST', url, body)
    return [status, answer.message]
  }
  const unknown = '3EXM1nH9JtMJ06hF5WfzRPot1LW'
  expect(await refused(`/v2/dead-letters/${unknown}/replay`)).toEqual([404, `Dead letter with id ${unknown} not found`])
  expect(await refused(`/v2/dead-letters/${ids[0]}/replay`)).toEqual([409, 'Dead letter is discarded'])
  expect(await refused(`/v2/dead-letters/${ids[1]}/replay`)).toEqual([409, 'Dead letter is resolved'])
  expect(await refused(`/v2/dead-letters/${ids[2]}/replay`)).toEqual([409, 'Dead letter is replaying'])
  expect((await routes.call('DELETE', `/v2/dead-letters/${ids[2]}`)).body.message).toBe('Dead letter is replaying')
  expect(await refused('/v2/dead-letters/replay', {})).toEqual([400, 'ids or filter required'])
  expect(await refused('/v2/dead-letters/replay', { filter: {} })).toEqual([400, 'ids or filter required'])
  for (const rateEventsPerSecond of [0, -1, 10_001, 1.5, '5', null]) {
    const answered = await refused('/v2/dead-letters/replay', { ...ALL, rateEventsPerSecond })
    expect(answered).toEqual([400, 'Invalid rateEventsPerSecond'])
  }
  const discarded = await refused('/v2/dead-letters/discard', { ...ALL, rateEventsPerSecond: 5 })
  expect(discarded).toEqual([400, 'Unknown member: rateEventsPerSecond'])
  await run.change('d1', { isEnabled: false })
  expect(await refused(`/v2/dead-letters/${ids[3]}/replay`)).toEqual([409, 'Destination with id d1 is disabled'])
  const filter = { destinationId: 'd1' }
  expect(await refused('/v2/dead-letters/replay', { filter })).toEqual([409, 'Destination with id d1 is disabled'])
  // Where others are meant, too, those of a disabled destination stay as they are.
  expect(await routes.job('/v2/dead-letters/replay', ALL)).toMatchObject({ state: 'done', matched: 0 })
})

test('what dies while a replay runs is not taken up by it', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(100))
  sink.answer = ({ event }) => (event.messageId === 'later' ? 400 : 200)
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(300)
  await run.send(track('later'))
  await run.advance(5 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 100, taken: 100, delivered: 100 })
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['later'])
})

test('a dead letter that ended with its destination stays discarded, whatever of it was still to be written', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url.replace('/in', '/two') } })
  await run.send(track('m'))
  // The other one, whose turn comes 100 ms later, keeps the replay from its end.
  sink.answer = () => 500
  const routes = new RoutesUnderTest(run)
  const { replayId } = (await routes.call('POST', '/v2/dead-letters/replay', ALL)).body
  run.writes = false
  await run.settle()
  expect(sink.arrivals.length).toBe(3)
  run.destinations.delete('d1')
  run.connections.delete('s1-d1')
  await run.configure()
  run.writes = true
  await run.settle()
  const [letter] = await run.deadLetters({ state: 'discarded' })
  expect(letter).toMatchObject({ destinationId: 'd1', reason: 'answered 400', attempts: 1, wait: null })
  expect(await routes.replay(replayId)).toMatchObject({ state: 'running', taken: 1, delivered: 0, deadLettered: 0 })
})
