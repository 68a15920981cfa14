import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START, track, tracks } from './testing/pipeline-under-test.ts'

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

test('an event of a dead destination is given up after 180 minutes and not earlier', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(track('m', 'u'))
  await run.advance(180 * MINUTE - 1)
  expect(await run.outcome('m')).toBe('retrying')
  expect(sink.arrivals.length).toBeGreaterThanOrEqual(3)
  await run.advance(5 * MINUTE + 1)
  expect(await run.outcome('m')).toBe('dead_lettered: retry limit reached')
})

test('what waits behind an outage is given up 180 minutes after the later of its acceptance and the outage', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(...tracks(50))
  expect((await run.state()).state).toBe('resting')
  await run.advance(HOUR)
  await run.send(track('late'))
  const attemptsForLate = () => sink.messageIds.filter((id) => id === 'late').length

  await run.advance(120 * MINUTE - 1)
  expect(await run.outcome('m-49')).toBe('pending')
  await run.advance(MINUTE)
  expect((await run.deadLetters()).length).toBe(50)
  expect(await run.outcome('m-49')).toBe('dead_lettered: retry limit reached')

  await run.advance(59 * MINUTE - 1)
  expect(await run.outcome('late')).not.toMatch('dead')
  await run.advance(2 * MINUTE)
  expect(await run.outcome('late')).toBe('dead_lettered: retry limit reached')
  expect(attemptsForLate()).toBeGreaterThanOrEqual(3)
})

test('those of one user are given up together, each once', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(...tracks(30, () => 'same user'), ...tracks(30, (n) => `user ${n}`, 'other'))
  await run.advance(HOUR)
  await run.send(...tracks(30, () => 'same user', 'later'))
  await run.advance(5 * HOUR)
  const letters = await run.deadLetters()
  expect(letters.map(({ event }) => JSON.parse(event).messageId).sort()).toEqual(
    ['m', 'other', 'later']
      .flatMap((prefix) => tracks(30, () => '', prefix).map((event) => (event as { messageId: string }).messageId))
      .sort(),
  )
  expect(await run.pipeline.waiting({})).toBe(90)
  sink.answer = () => 200
  sink.arrivals.length = 0
  await run.advance(HOUR)
  expect(sink.arrivals).toEqual([])
})

test.each([401, 403, 429, 408])('%i for four hours does not end an event', async (status) => {
  const { run, sink } = await PipelineUnderTest.withSink(status)
  await using _ = run
  await run.send(track('m'))
  await run.advance(4 * HOUR)
  expect(await run.outcome('m')).toBe('retrying')
  sink.answer = () => 200
  await run.advance(5 * MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
})

test('what is only put off ends 720 hours after its acceptance', async () => {
  const putOff = { status: 429, headers: { 'retry-after': '3600' } }
  const { run } = await PipelineUnderTest.withSink(putOff)
  await using _ = run
  await run.send(track('m'))
  run.clock.jump(718 * HOUR)
  await run.advance(2 * HOUR - 1)
  expect(await run.outcome('m')).toBe('retrying')
  await run.advance(HOUR)
  expect(await run.outcome('m')).toBe('dead_lettered: job expired')
})

test('after 20 refusals in a row the destination is unauthorised, and a corrected token delivers what waits', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ headers }) => (headers['x-token'] === 'right' ? 200 : 401))
  await using _ = run
  await run.send(...tracks(30))
  expect((await run.state()).state).toBe('unauthorised')
  const attempts = sink.arrivals.length
  expect(attempts).toBeLessThan(30)
  await run.advance(5 * MINUTE - 1)
  expect(sink.arrivals.length).toBe(attempts)
  await run.advance(1)
  expect(sink.arrivals.length).toBe(attempts + 1)
  // The probe is the first of those that wait.
  expect(sink.messageIds.at(-1)).toBe('m-0')

  await run.change('d1', { config: { webhookUrl: sink.url, headers: { 'x-token': 'right' } } })
  expect((await run.state()).state).toBe('ok')
  await run.advance(MINUTE)
  for (let n = 0; n < 30; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
})

test('an event refused three times while others are accepted is given up, and the next of its user goes', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'poison' ? 403 : 200))
  await using _ = run
  await run.send(track('poison', 'u'), track('next', 'u'), track('other', 'v'))
  await run.advance(MINUTE)
  expect(sink.messageIds.filter((id) => id === 'poison').length).toBe(3)
  expect(await run.outcome('poison')).toBe('dead_lettered: refused')
  expect(await run.outcome('next')).toBe('delivered')
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
