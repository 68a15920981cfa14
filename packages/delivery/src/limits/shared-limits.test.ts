import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { describeDestinationLimits } from './conformance.ts'
import { newSharedLimits, openSharedLimits } from './shared-limits.ts'
import { SharedLock } from './shared-lock.ts'
import { SharedFacts } from './testing/lane-thread-calls.ts'
import { LaneThreads } from './testing/lane-threads.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const SETTINGS = { concurrency: 8, throttle: null, revision: 1 }

describeDestinationLimits('threads of one process', () => {
  const memory = newSharedLimits()
  return (lane) => openSharedLimits(memory, lane)
})

test('four threads: a throttle of 45 per 20 s lets never more than 45 through in any 20 s, and at least 40', async () => {
  await using run = new LaneThreads(4, { concurrency: 100, throttle: { limit: 45, windowSeconds: 20 } })
  await run.add(200)
  await run.runUntil(200 * SECOND)
  const reports = await run.reports()
  const sent = reports.flatMap(({ sentAt }) => sentAt).sort((a, b) => a - b)
  for (const [i, at] of sent.entries()) if (i >= 45) expect(at - sent[i - 45]!).toBeGreaterThanOrEqual(20 * SECOND)
  for (let from = 0; from < 200 * SECOND; from += 20 * SECOND) {
    expect(sent.filter((at) => at >= from && at < from + 20 * SECOND).length).toBeGreaterThanOrEqual(40)
  }
  // All threads had work all the time: none got less than its share.
  for (const { sentAt } of reports) expect(sentAt.length).toBeGreaterThanOrEqual(90)
})

test("four threads: a throttle is the busy thread's alone while the others have no work", async () => {
  await using run = new LaneThreads(4, { concurrency: 100, throttle: { limit: 45, windowSeconds: 20 } })
  await run.threads[2]!.call('add', 400)
  await run.runUntil(100 * SECOND)
  expect((await run.reports())[2]!.sentAt.length).toBeGreaterThanOrEqual(5 * 45)
})

test('four threads: a dead destination gets one probe at a time, and all is delivered once it answers', async () => {
  await using run = new LaneThreads(4, { concurrency: 8, throttle: null })
  run.facts.isDead = true
  await run.add(100)
  await run.runUntil(29 * SECOND)
  expect(run.facts.calls).toBeGreaterThanOrEqual(20)
  expect(run.facts.calls).toBeLessThanOrEqual(20 * 4 + 8)
  expect(run.facts.mostInFlight).toBeLessThanOrEqual(8)

  const before = run.facts.calls
  run.facts.forgetMost()
  await run.runUntil(30 * MINUTE)
  expect(run.facts.mostInFlight).toBe(1)
  const probes = run.facts.calls - before
  expect(probes).toBeGreaterThanOrEqual(55)
  expect(probes).toBeLessThanOrEqual(60)
  const sent = (await run.reports()).flatMap(({ sentAt }) => sentAt).sort((a, b) => a - b)
  const gaps = sent.slice(-probes).map((at, i, all) => (i === 0 ? 30 * SECOND : at - all[i - 1]!))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30 * SECOND)

  run.facts.isDead = false
  await run.runUntil(40 * MINUTE)
  expect((await run.reports()).map(({ delivered }) => delivered)).toEqual([100, 100, 100, 100])
})

test('four threads: calls in flight stay within the concurrency, and every thread gets its share', async () => {
  await using run = new LaneThreads(4, { concurrency: 6, throttle: null })
  await run.add(150)
  await run.runUntil(5 * SECOND)
  expect(run.facts.mostInFlight).toBe(6)
  const sent = (await run.reports()).map(({ sentAt }) => sentAt.length)
  expect(sent.reduce((sum, calls) => sum + calls, 0)).toBeGreaterThanOrEqual(6 * 50)
  expect(Math.min(...sent)).toBeGreaterThanOrEqual(40)
})

test('four threads at once never have more calls than the limit', async () => {
  const limits = newSharedLimits()
  const facts = new SharedFacts()
  const file = new URL('./testing/hammer-thread.ts', import.meta.url)
  const workers = [0, 1, 2, 3].map(
    (thread) =>
      new Worker(file, {
        workerData: { limits, thread, settings: SETTINGS, facts: facts.memory, rounds: 50_000, team: 4 },
      }),
  )
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  expect(facts.calls).toBeGreaterThan(50_000)
  expect(facts.mostInFlight).toBeLessThanOrEqual(8)
  const lane = openSharedLimits(limits, 4).join(SETTINGS, () => {}, 0)
  expect(Array.from({ length: 9 }, () => lane.takeCall(false))).toEqual([...Array(8).fill(true), false])
})

test('a lock whose holder does not return it is an error after a second', () => {
  const ints = new Int32Array(new SharedArrayBuffer(4))
  new SharedLock(ints, 4).enter()
  expect(() => new SharedLock(ints, 5).enter()).toThrow(
    'delivery thread 4 holds the limits of a destination for longer than 1000 ms',
  )
})

test('a thread has one lane of a destination, and a number that the memory has room for', () => {
  const memory = newSharedLimits()
  const limits = openSharedLimits(memory, 15)
  const lane = limits.join(SETTINGS, () => {}, 0)
  expect(() => limits.join(SETTINGS, () => {}, 0)).toThrow('delivery thread 15 has a lane of this destination')
  lane.close()
  expect(limits.join(SETTINGS, () => {}, 0).takeCall(false)).toBe(true)
  for (const thread of [-1, 16, 0.5]) {
    expect(() => openSharedLimits(memory, thread)).toThrow(`from 0 to 15, not ${thread}`)
  }
})
