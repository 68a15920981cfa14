import { type EventLog, MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from './testing/pipeline-under-test.ts'
import { track, tracks } from './testing/test-events.ts'

test('a restart in the middle keeps attempts, first attempt and due time, and delivers everything once more at most', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ event, n }) => (/fails$/.test(event.messageId) && n < 4 ? 500 : 200),
    {
      random: () => 0,
      log: new MemoryEventLog(3),
      sources: ['s1', 's2', 's3'],
    },
  )
  await using _ = run
  for (const source of ['s1', 's2', 's3']) {
    await run.accept([track(`${source} fails`, 'u'), track(`${source} behind`, 'u'), track(`${source} good`)], {
      source,
    })
  }
  await run.settle()
  await run.advance(8 * SECOND)
  const before = sink.arrivals.length
  expect(before).toBe(9)
  const attemptsBefore = (await run.trace('s1 fails'))['d1']!.requests[0]!.attempts
  await run.restart(() => run.clock.advance(6 * SECOND))
  expect((await run.trace('s1 fails'))['d1']!.requests[0]!.attempts).toEqual(attemptsBefore)
  expect(await run.outcome('s1 fails')).toBe('retrying')
  expect(await run.outcome('s2 behind')).toBe('blocked: waits for s2 fails')
  // 16 s after the second attempt, 6 of which passed while it was down.
  await run.advance(10 * SECOND - 1)
  expect(sink.arrivals.length).toBe(before)
  await run.advance(1)
  expect(sink.arrivals.length).toBe(before + 3)
  await run.advance(MINUTE)
  for (const source of ['s1', 's2', 's3']) {
    const { outcome, requests } = (await run.trace(`${source} fails`))['d1']!
    expect([outcome, requests[0]!.attempts.map(({ n }) => n)]).toEqual(['delivered', [1, 2, 3, 4]])
    expect(await run.outcome(`${source} behind`)).toBe('delivered')
    expect(sink.messageIds.filter((id) => id === `${source} good`).length).toBe(1)
  }
})

test('what is recorded above the position is skipped after a crash', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => {
    if (event.messageId === 'held') return 'hang'
    return event.messageId === 'bad' ? 400 : 200
  })
  await using _ = run
  await run.send(
    track('held'),
    track('bad'),
    track('filtered', '', { integrations: { All: false } }),
    ...tracks(500),
    track('once'),
  )
  expect(sink.arrivals.length).toBe(503)
  sink.answer = () => 200
  await run.crash()
  expect(sink.messageIds.slice(503)).toEqual(['held'])
  expect(await run.deadLetters()).toHaveLength(1)
  expect(await run.outcome('held')).toBe('delivered')
  expect(await run.outcome('bad')).toBe('dead_lettered: answered 400')
  expect(await run.outcome('filtered')).toBe('filtered: integrations')
})

test('a crash repeats what was answered and not written, and nothing else', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(...tracks(100, () => '', 'written'))
  run.writes = false
  await run.accept(tracks(50, () => '', 'unwritten'))
  await run.settle()
  expect(sink.arrivals.length).toBe(150)
  await run.crash()
  run.writes = true
  await run.settle()
  expect(sink.arrivals.length).toBe(200)
  expect(sink.messageIds.slice(150).every((id) => id.startsWith('unwritten'))).toBe(true)
})

test('events accepted while it was down are delivered', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('before'))
  await run.restart(async () => {
    await run.accept(tracks(2_500, (n) => `u-${n % 9}`))
    await run.accept(
      tracks(10, () => '', 'backfill'),
      { stream: 'backfill' },
    )
  })
  expect(sink.arrivals.length).toBe(2_511)
  expect(await run.outcome('backfill-9')).toBe('delivered')
})

test('a batch that is taken up in parts goes on inside the batch after a restart', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept(tracks(5_000))
  await run.settle()
  const state = await run.state()
  expect(state.pending).toBe(5_000)
  expect(run.shard.deliveries.get('d1')!.lane.loaded).toBeLessThanOrEqual(1_000)
  await run.restart()
  expect((await run.state()).pending).toBe(5_000)
  sink.release()
  await run.settle()
  expect(new Set(sink.messageIds).size).toBe(5_000)
  // Only what had no answer is sent again.
  expect(sink.arrivals.length).toBeLessThanOrEqual(5_002)
})

test('SIGTERM with a call unanswered ends when the deadline does, and the call is repeated', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'held' ? 'hang' : 200))
  await using _ = run
  await run.accept([track('held', 'u'), track('next', 'u'), ...tracks(20)])
  await run.settle()
  let isOver = false
  let deadline = () => {}
  const stopped = run.delivery.stop(new Promise<void>((resolve) => (deadline = resolve))).then(() => {
    isOver = true
  })
  await run.accept([track('too late')])
  await run.settle()
  expect(isOver).toBe(false)
  expect(sink.messageIds).not.toContain('too late')
  deadline()
  await stopped
  expect(sink.messageIds).not.toContain('next')
  sink.answer = () => 200
  await run.restart()
  expect(sink.messageIds.slice(21).toSorted()).toEqual(['held', 'next', 'too late'])
  expect(await run.outcome('held')).toBe('delivered')
})

test('SIGTERM waits for calls in flight, and nothing is repeated that need not be', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang')
  await using _ = run
  await run.accept(tracks(8))
  await run.settle()
  const stopped = run.delivery.stop(new Promise(() => {}))
  sink.release()
  await stopped
  await run.restart()
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(8)
  for (let n = 0; n < 8; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
})

test('spans hold over restarts: a connection that was off for a while stays off for what came meanwhile', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept(tracks(1_200, () => '', 'on'))
  await run.settle()
  run.connect('s1', 'd1', false)
  await run.configure()
  await run.accept(tracks(50, () => '', 'off'))
  await run.settle()
  await run.restart()
  run.connect('s1', 'd1', true)
  await run.configure()
  await run.accept(tracks(50, () => '', 'again'))
  await run.restart()
  sink.release()
  await run.advance(MINUTE)
  const seen = new Set(sink.messageIds.map((id) => id.replace(/-.*/, '')))
  expect(seen).toEqual(new Set(['on', 'again']))
  expect(new Set(sink.messageIds).size).toBe(1_250)
})

/** Says how many records readers were given. */
class CountedLog extends MemoryEventLog {
  records = 0

  override async read(...asked: Parameters<EventLog['read']>): ReturnType<EventLog['read']> {
    const result = await super.read(...asked)
    this.records += result.records.length
    return result
  }
}

test('for destinations that nothing comes for, a restart reads nothing of what others sent, and the next event is delivered', async () => {
  const log = new CountedLog()
  const { run, sink } = await PipelineUnderTest.withSink(200, { log, sources: ['s1', 's2'] })
  await using _ = run
  run.connections.delete('s2-d1')
  const config = { webhookUrl: sink.url }
  for (let n = 0; n < 20; n++) {
    run.destinations.set(`idle-${n}`, { ...run.destinations.get('d1')!, id: `idle-${n}`, config })
    run.connect('s2', `idle-${n}`)
  }
  await run.configure()
  await run.accept([track('early')], { source: 's2' })
  await run.settle()
  for (const event of tracks(500)) await run.accept([event])
  await run.settle()
  expect(sink.arrivals.length).toBe(520)
  log.records = 0
  await run.restart()
  expect(log.records).toBe(0)
  await run.restart(async () => {
    for (const event of tracks(500, () => '', 'other')) await run.accept([event])
    await run.accept([track('late')], { source: 's2' })
  })
  expect(sink.messageIds.filter((id) => id === 'late').length).toBe(20)
  expect(sink.arrivals.length).toBe(1_040)
})
