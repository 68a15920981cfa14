import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from './testing/pipeline-under-test.ts'
import { track, tracks } from './testing/test-events.ts'

/** contracts/delivery.md §3 [D605]: seconds after the n-th failed attempt. */
const WAITS = [
  [8, 10],
  [16, 20],
  [32, 40],
  [64, 80],
  [128, 160],
  [240, 300],
  [240, 300],
] as const

test('waits lie in the ranges of the contract and differ between events', async () => {
  const { run } = await PipelineUnderTest.withSink(({ n }) => (n <= WAITS.length ? 408 : 200))
  await using _ = run
  await run.send(...tracks(5))
  await run.advance(HOUR)
  const firstWaits = new Set<number>()
  for (let i = 0; i < 5; i++) {
    const { outcome, requests } = (await run.trace(`m-${i}`))['d1']!
    expect(outcome).toBe('delivered')
    const times = requests[0]!.attempts.map(({ at }) => Date.parse(at))
    const waits = times.slice(1).map((at, n) => (at - times[n]!) / SECOND)
    expect(waits.length).toBe(WAITS.length)
    // `at` is kept in whole milliseconds.
    for (const [n, [least, most]] of WAITS.entries()) {
      expect(waits[n]).toBeGreaterThanOrEqual(least - 0.001)
      expect(waits[n]).toBeLessThanOrEqual(most + 0.001)
    }
    firstWaits.add(waits[0]!)
  }
  expect(firstWaits.size).toBeGreaterThan(1)
})

test.each([
  ['45 seconds', '45', 45],
  ['an HTTP date', new Date(START + 70 * SECOND).toUTCString(), 70],
  ['more than an hour', '99999', 3_600],
  ['less than the schedule', '1', 8],
  ['nonsense', 'soon', 8],
])('Retry-After of %s is heeded', async (_name, header, seconds) => {
  const retry = { status: 429, headers: { 'retry-after': header } }
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) => (n === 1 ? retry : 200), { random: () => 0 })
  await using _ = run
  await run.send(track('m'))
  await run.advance(seconds * SECOND - 1)
  expect(sink.arrivals.length).toBe(1)
  await run.advance(1)
  expect(sink.arrivals.length).toBe(2)
  expect(await run.outcome('m')).toBe('delivered')
})

test('after a stop of five hours an event still gets three attempts', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(track('m'))
  await run.restart(() => run.clock.advance(5 * HOUR))
  const before = sink.arrivals.length
  await run.advance(10 * MINUTE)
  expect(await run.outcome('m')).toBe('dead_lettered: retry limit reached')
  // The one that was due when it started again, and two more.
  expect(sink.arrivals.length - before + 1).toBeGreaterThanOrEqual(3)
})

test('after a stop of five hours an outage gives its events three attempts or probes, too', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(40))
  await run.advance(MINUTE)
  await run.restart(() => run.clock.advance(5 * HOUR))
  const arrivalsAtStart = sink.arrivals.length
  const probesUntilGivenUp = async () => {
    for (let probes = 0; ; probes++) {
      if ((await run.deadLetters()).length > 0) return probes
      await run.advance(30 * SECOND)
    }
  }
  expect((await run.state()).state).toBe('resting')
  expect(arrivalsAtStart).toBeGreaterThan(0)
  // Attempted once since the start: two probes make it three.
  expect(await probesUntilGivenUp()).toBeGreaterThanOrEqual(2)
})

test('a jump of the wall clock moves no wait', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) => (n === 1 ? 500 : 200), { random: () => 0 })
  await using _ = run
  for (const [i, jump] of [-9 * HOUR, 9 * HOUR].entries()) {
    await run.send(track(`m-${i}`))
    run.clock.jump(jump)
    await run.advance(8 * SECOND - 1)
    expect(sink.arrivals.length).toBe(2 * i + 1)
    await run.advance(1)
    expect(await run.outcome(`m-${i}`)).toBe('delivered')
  }
})

test('after a start a retry waits at most as long as was asked for, whatever the wall clock says', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) => (n === 1 ? 500 : 200), { random: () => 0 })
  await using _ = run
  await run.send(track('m'))
  await run.restart(() => run.clock.jump(-100 * HOUR))
  await run.advance(8 * SECOND - 1)
  expect(sink.arrivals.length).toBe(1)
  await run.advance(1)
  expect(await run.outcome('m')).toBe('delivered')
})

test('a destination that was disabled for part of a millisecond goes on with its retries', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(track('m-1'))
  await run.change('d1', { isEnabled: false })
  await run.advance(1_000.4)
  await run.change('d1', { isEnabled: true })
  await run.advance(10 * SECOND)
  sink.answer = () => 200
  await run.advance(20 * SECOND)
  expect(run.store.trouble()).toBe(undefined)
  expect(await run.outcome('m-1')).toBe('delivered')
})

test('what earlier attempts said leaves memory while an event waits, and is complete in traces and dead letters', async () => {
  const text = 'x'.repeat(16_000)
  const answer = (status: number) => ({ status, headers: { 'content-type': 'text/plain' }, body: `${status} ${text}` })
  const { run, sink } = await PipelineUnderTest.withSink(answer(500), { memoryBytes: 1024 * 1024 })
  await using _ = run
  for (let batch = 0; batch < 6; batch++) await run.accept(tracks(50, (n) => `u${n}`, `b${batch}`))
  await run.advance(2 * MINUTE)
  const held = () =>
    [...run.shard.deliveries.get('d1')!.lane.unfinished()].filter(
      ({ history, payload }) => payload === undefined && history?.requests !== undefined,
    ).length
  expect([...run.shard.deliveries.get('d1')!.lane.unfinished()]).toHaveLength(300)
  expect(held()).toBe(0)
  const texts = async () => (await run.trace('b0-0'))['d1']!.requests.flatMap(({ attempts }) => attempts)
  const before = await texts()
  expect(before.length).toBeGreaterThan(1)
  expect(before.every((attempt) => attempt.text.startsWith('500 x'))).toBe(true)

  await run.restart()
  expect(held()).toBe(0)
  expect((await texts()).slice(0, before.length)).toEqual(before)
  sink.answer = () => answer(400)
  await run.advance(10 * MINUTE)
  const [letter] = await run.deadLetters({ messageId: 'b0-0' })
  const { attempts } = letter!.requests![0]!
  expect(attempts.slice(0, before.length)).toEqual(before)
  expect(attempts.at(-1)).toMatchObject({ n: attempts.length, status: 400 })
})
