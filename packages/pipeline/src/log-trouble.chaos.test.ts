import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { MemoryEventLog, SqliteEventLog } from '@millrace/log'
import { ManualClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from './testing/pipeline-under-test.ts'
import { track, tracks } from './testing/test-events.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function sqliteLog(clock: ManualClock, segmentBytes = 20_000) {
  const directory = mkdtempSync(path.join(tmpdir(), 'millrace-log-'))
  folders.push(directory)
  return { directory, log: await SqliteEventLog.open({ directory, clock, segmentBytes, cacheBytes: 0 }) }
}

/** Reads fail as long as `isBroken`. */
class BreakableLog extends MemoryEventLog {
  isBroken = false

  override async read(...args: Parameters<MemoryEventLog['read']>) {
    if (this.isBroken) throw new Error('disk I/O error')
    return super.read(...args)
  }

  override async get(...args: Parameters<MemoryEventLog['get']>) {
    if (this.isBroken) throw new Error('disk I/O error')
    return super.get(...args)
  }
}

test('when the log cannot be read delivery waits, and goes on by itself', async () => {
  const log = new BreakableLog()
  const { run, sink } = await PipelineUnderTest.withSink(({ n, event }) => (n === 1 && event.userId ? 500 : 200), {
    log,
  })
  await using _ = run
  await run.send(...tracks(3, (n) => `u-${n}`))
  log.isBroken = true
  // Retries come due, and new events come.
  await run.accept([track('new')])
  await run.advance(MINUTE)
  expect(sink.arrivals.length).toBe(3)
  log.isBroken = false
  await run.advance(2 * SECOND)
  for (const id of ['m-0', 'm-1', 'm-2', 'new']) expect(await run.outcome(id)).toBe('delivered')
})

test('a backfill that could not be read is found by its messageIds a second after the log can be read again', async () => {
  const log = new BreakableLog()
  const { run } = await PipelineUnderTest.withSink(200, { log })
  await using _ = run
  log.isBroken = true
  await run.accept(
    tracks(3, (n) => `u-${n}`),
    { stream: 'backfill' },
  )
  await run.settle()
  log.isBroken = false
  await run.advance(2 * SECOND)
  // Nothing new came that would have it read.
  for (const id of ['m-0', 'm-1', 'm-2']) expect(await run.outcome(id)).toBe('delivered')
})

test('when the log cannot be read for the probe of an outage, the probe goes later', async () => {
  const log = new BreakableLog()
  const { run, sink } = await PipelineUnderTest.withSink(500, { log })
  await using _ = run
  await run.send(...tracks(30))
  log.isBroken = true
  await run.advance(2 * MINUTE)
  log.isBroken = false
  sink.answer = () => 200
  await run.advance(MINUTE)
  for (let n = 0; n < 30; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
})

test('a destination that fell behind goes on after the log could not be read', async () => {
  const log = new BreakableLog()
  const { run, sink } = await PipelineUnderTest.withSink('hang', { log, d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept(tracks(3_000))
  await run.settle()
  log.isBroken = true
  sink.release()
  await run.settle()
  expect(sink.arrivals.length).toBeLessThan(3_000)
  log.isBroken = false
  await run.advance(2 * SECOND)
  expect(sink.arrivals.length).toBe(3_000)
})

test('segments are given back when every destination is past them, and not before', async () => {
  const clock = new ManualClock(START)
  const { log } = await sqliteLog(clock)
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'waits' ? 429 : 200), {
    clock,
    log,
    logKeepMs: 10 * MINUTE,
  })
  await using _ = run
  await run.send(track('waits', 'u'))
  for (let batch = 0; batch < 20; batch++) await run.send(...tracks(60, () => '', `b${batch}`))
  await run.advance(HOUR + 30 * MINUTE)
  expect((await log.oldest(0))!.offset).toBe(0)
  expect(await run.outcome('waits')).toBe('retrying')

  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  expect(await run.outcome('waits')).toBe('delivered')
  await run.advance(2 * HOUR)
  expect((await log.oldest(0))?.offset).not.toBe(0)
  await expect(run.outcome('waits')).rejects.toThrow('0 events')
})

test('a jump of the wall clock suspends retention of log and traces for 24 hours', async () => {
  const clock = new ManualClock(START)
  const { log } = await sqliteLog(clock)
  const { run } = await PipelineUnderTest.withSink(200, {
    clock,
    log,
    logKeepMs: HOUR,
    traces: { keepMs: HOUR, maxBytes: 1e9 },
  })
  await using _ = run
  for (let batch = 0; batch < 20; batch++) await run.send(...tracks(60, () => '', `b${batch}`))
  await run.advance(MINUTE)
  run.clock.jump(1_000 * HOUR)
  await run.advance(HOUR + 30 * MINUTE)
  expect(run.logged.map(({ text }) => text)).toContain('the clock jumped: nothing is deleted for 24 hours')
  expect((await log.oldest(0))!.offset).toBe(0)
  expect(await run.outcome('b0-0')).toBe('delivered')
  await run.advance(24 * HOUR)
  expect((await log.oldest(0))?.offset).not.toBe(0)
})

test('events of a damaged segment that still waited end as expired, and the others go on', async () => {
  const clock = new ManualClock(START)
  const { directory, log } = await sqliteLog(clock)
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'waits' ? 429 : 200), {
    clock,
    log,
  })
  await using _ = run
  await run.send(track('waits', 'u'), track('behind', 'u'))
  for (let batch = 0; batch < 20; batch++) await run.send(...tracks(60, () => '', `b${batch}`))
  await run.advance(SECOND)
  const first = readdirSync(directory)
    .filter((name) => name.endsWith('.db'))
    .sort()[0]!
  writeFileSync(path.join(directory, first), Buffer.alloc(20_000, 0x55))

  await run.send(track('after', 'u'))
  await run.advance(10 * MINUTE)
  expect(run.delivery.metrics.outcomes.get('d1')!.get('expired')).toBe(2)
  expect(await run.state()).toMatchObject({ expired: 2, retrying: 0, blockedEvents: 0, pending: 0 })
  expect(await run.outcome('after')).toBe('delivered')
  expect(sink.messageIds).not.toContain('behind')
  const recorded = await run.store.outcomes.recorded({ partition: 0, offset: 0, index: 0, sourceId: 's1' })
  expect(recorded).toMatchObject([['d1', { outcome: 'expired', reason: 'segment was damaged' }]])
})
