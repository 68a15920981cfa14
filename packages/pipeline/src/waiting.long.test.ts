import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND } from './testing/pipeline-under-test.ts'
import { Sink } from './testing/sink.ts'
import { tracks } from './testing/test-events.ts'

/** Of a thousand events each. */
const BATCHES = 100
const EVENTS = BATCHES * 1_000

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function usedBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

test(`${EVENTS} waiting events of one destination leave memory flat, and all are delivered in the end`, async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  let atTenth = 0
  for (let batch = 0; batch < BATCHES; batch++) {
    await run.accept(tracks(1_000, (n) => `u-${batch}-${n}`, `b${batch}`))
    await run.settle()
    if (batch + 1 === BATCHES / 10) atTenth = usedBytes()
  }
  const { lane } = run.shard.deliveries.get('d1')!
  expect(lane.loaded).toBeLessThanOrEqual(1_064)
  expect((await run.state()).state).toBe('resting')
  // Beyond the bodies, which this log keeps in memory outside of the heap, nine times as many waiting events cost next to nothing more.
  expect(usedBytes() - atTenth).toBeLessThan(EVENTS * 0.9 * 50)
  sink.answer = () => 200
  await run.advance(2 * MINUTE)
  expect(new Set(sink.messageIds).size).toBe(EVENTS)
})

test(`${EVENTS} events that wait for a retry cost a link each, survive a restart and are delivered`, async () => {
  const { run, sink } = await PipelineUnderTest.withSink({ status: 429, headers: { 'retry-after': '600' } })
  await using _ = run
  for (let batch = 0; batch < BATCHES; batch++) {
    await run.accept(tracks(1_000, (n) => `u-${batch}-${n}`, `b${batch}`))
    await run.settle()
  }
  expect(run.shard.deliveries.get('d1')!.lane.loaded).toBeLessThanOrEqual(1_064)
  await run.restart()
  expect(run.shard.deliveries.get('d1')!.lane.loaded).toBeLessThanOrEqual(1_064)
  sink.arrivals.length = 0
  sink.answer = () => 200
  await run.advance(15 * MINUTE)
  expect(new Set(sink.messageIds).size).toBe(EVENTS)
})

test('100 slow destinations stay within the memory that they share', async () => {
  const sinks = await Promise.all(Array.from({ length: 100 }, () => Sink.start('hang')))
  const destinations = Object.fromEntries(sinks.map(({ url }, n) => [`d${n}`, { config: { webhookUrl: url } }]))
  const memoryBytes = 1024 * 1024
  await using run = await PipelineUnderTest.start({ destinations, memoryBytes })
  for (const sink of sinks) run.own(sink)
  const padding = 'x'.repeat(1_000)
  for (let batch = 0; batch < 20; batch++) {
    await run.accept(tracks(100, () => '', `b${batch}`).map((event) => ({ ...event, padding })))
    await run.advance(SECOND)
  }
  let loaded = 0
  for (const { lane } of run.shard.deliveries.values()) loaded += lane.loaded
  // Beyond the budget each holds at most 16.
  expect(loaded * 1_000).toBeLessThan(memoryBytes + 100 * 16 * 1_200)
  expect((await run.state('d99')).pending).toBe(2_000)
})
