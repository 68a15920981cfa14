import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SqliteEventLog } from '@millrace/log'
import { ManualClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track } from '../testing/test-events.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'millrace-log-budget-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let logs = 0

/** A segment for each record; no more of them than their sizes allow. */
async function withSmallLog(answer: Parameters<typeof PipelineUnderTest.withSink>[0], logMaxBytes: number) {
  const clock = new ManualClock(START)
  const log = await SqliteEventLog.open({ directory: path.join(folder, `${logs++}`), clock, segmentMs: 0 })
  const { run, sink } = await PipelineUnderTest.withSink(answer, { clock, log, logMaxBytes })
  return { run, sink, log }
}

/** Segments are closed by a thread that no clock of ours drives: it gets its time. */
async function untilOldest(run: PipelineUnderTest, log: SqliteEventLog, offset: number) {
  for (let n = 0; n < 500 && ((await log.oldest(0))?.offset ?? offset) < offset; n++) await run.advance(5 * SECOND)
  expect((await log.oldest(0))?.offset ?? offset).toBeGreaterThanOrEqual(offset)
}

test('over its bound the log gives up its oldest segments, and what destinations still have to get of them is kept', async () => {
  const { run, sink, log } = await withSmallLog(500, 1024 * 1024)
  await using _ = run
  const healthy = run.own(await Sink.start())
  await run.change('healthy', { config: { webhookUrl: healthy.url } })
  for (let n = 0; n < 40; n++) await run.send(track(`m-${n}`, `u-${n % 8}`))
  // Backfills are another stream of the same segments; duplicates and the other destination need nothing of them.
  await run.accept([track('backfilled', 'u-1')], { stream: 'backfill' })
  await untilOldest(run, log, 20)
  expect(run.logged.some(({ text }) => text === 'a segment was deleted early')).toBe(true)
  expect(healthy.arrivals.length).toBe(41)
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(41)
  expect(await run.outcome('m-0')).toMatch(/retrying|blocked|pending/)
  await run.restart()
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(41)
  const before = sink.arrivals.length
  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  const arrived = sink.messageIds.slice(before)
  expect(new Set(arrived).size).toBe(41)
  for (let user = 0; user < 8; user++) {
    const ofUser = arrived.filter((id) => id.startsWith('m-') && Number(id.slice(2)) % 8 === user)
    expect(ofUser).toEqual(Array.from({ length: 5 }, (_, n) => `m-${8 * n + user}`))
  }
  expect(await run.outcome('m-0')).toBe('delivered')
  // Once nobody needs it, it goes.
  await run.advance(5 * MINUTE)
  expect(await run.store.backlog.keptRanges()).toEqual([])
})

test('what was not taken up yet is read from what is kept, in its place before the rest of the log', async () => {
  const { run, sink, log } = await withSmallLog('hang', 600 * 1024)
  await using _ = run
  await run.change('d1', { delivery: { concurrency: 1 } })
  const batch = (n: number) => Array.from({ length: 100 }, (_, i) => track(`m-${n * 100 + i}`, 'one user'))
  for (let n = 0; n < 15; n++) await run.accept(batch(n))
  await untilOldest(run, log, 3)
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(1_500)
  const { backlogBytes } = await run.state()
  expect(backlogBytes).toBeGreaterThan(1_500 * 80)
  sink.release()
  await run.advance(MINUTE)
  expect([...new Set(sink.messageIds)]).toEqual(Array.from({ length: 1_500 }, (_, n) => `m-${n}`))
})

test('a replay whose range has left the log is failed, and sends nothing more', async () => {
  const { run, log } = await withSmallLog(200, 600 * 1024)
  await using _ = run
  for (let n = 0; n < 12; n++) {
    await run.send(track(`m-${n}`))
    await run.advance(SECOND)
  }
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  const routes = new RoutesUnderTest(run)
  const range = { from: new Date(START).toISOString(), to: new Date(START + MINUTE).toISOString() }
  const body = { sourceIds: ['s1'], destinationIds: ['d2'], ...range, rateEventsPerSecond: 1 }
  const { id } = await routes.replayLog(body)
  await routes.call('POST', `/v2/replays/${id}/pause`)
  await untilOldest(run, log, 4)
  const arrived = other.arrivals.length
  await routes.call('POST', `/v2/replays/${id}/resume`)
  await run.advance(MINUTE)
  expect(await routes.replay(id)).toMatchObject({ state: 'failed', finishedAt: expect.any(String) })
  expect(other.arrivals.length).toBe(arrived)
  const { status, body: refused } = await routes.call('POST', '/v2/replays', body)
  expect([status, refused.message]).toEqual([409, 'Range is older than the log'])
})

test('a log inside its bound, or without one, keeps what it has', async () => {
  for (const bound of [0, 1024 ** 3]) {
    const { run, log } = await withSmallLog(200, bound)
    await using _ = run
    for (let n = 0; n < 5; n++) await run.send(track(`m-${n}`))
    await run.advance(2 * MINUTE)
    expect((await log.oldest(0))!.offset).toBe(0)
  }
})
