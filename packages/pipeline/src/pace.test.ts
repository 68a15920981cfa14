import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND, START } from './testing/pipeline-under-test.ts'
import { track, tracks } from './testing/test-events.ts'

test('throttled events wait, keep their order and use no attempt', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, {
    d1: { delivery: { throttle: { limit: 45, windowSeconds: 20 } } },
  })
  await using _ = run
  await run.send(...tracks(100, (n) => `u-${n % 7}`))
  expect(sink.arrivals.length).toBe(45)
  expect(await run.state()).toMatchObject({
    state: 'ok',
    throttled: 55 - (await run.state()).blockedEvents,
    retrying: 0,
  })
  expect((await run.state()).throttled).toBeGreaterThan(0)
  expect(await run.outcome('m-45')).toBe('throttled')
  expect((await run.trace('m-45'))['d1']!.requests).toEqual([])
  await run.advance(20 * SECOND - 1)
  expect(sink.arrivals.length).toBe(45)
  await run.advance(1)
  expect(sink.arrivals.length).toBe(90)
  await run.advance(20 * SECOND)
  for (let user = 0; user < 7; user++) {
    const own = sink.arrivals.filter(({ event }) => event.userId === `u-${user}`).map(({ event }) => event.messageId)
    expect(own).toEqual(own.toSorted((a, b) => Number(a.slice(2)) - Number(b.slice(2))))
  }
  expect(sink.arrivals.length).toBe(100)
  expect((await run.trace('m-99'))['d1']!.requests[0]!.attempts.length).toBe(1)
})

test('a throttle that is taken away lets go at once', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, {
    d1: { delivery: { throttle: { limit: 1, windowSeconds: 3_600 } } },
  })
  await using _ = run
  await run.send(...tracks(10))
  expect(sink.arrivals.length).toBe(1)
  await run.change('d1', { delivery: { throttle: null } })
  expect(sink.arrivals.length).toBe(10)
})

test('concurrency begins at 8 and grows to the configured number against a good destination', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 12 } } })
  await using _ = run
  await run.send(...tracks(500))
  expect(sink.held).toBe(8)
  sink.release()
  await run.settle()
  expect((await run.state()).concurrency).toBe(12)
  sink.answer = () => 'hang'
  await run.send(...tracks(100, () => '', 'n'))
  expect(sink.held).toBe(12)
})

test.each([429, 503, 'hang'] as const)('concurrency halves on %s', async (trouble) => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { delivery: { concurrency: 20 } } })
  await using _ = run
  await run.send(...tracks(500))
  expect((await run.state()).concurrency).toBe(20)
  sink.answer = () => trouble
  await run.advance(1)
  await run.send(...tracks(5, () => '', 'n'))
  await run.advance(30 * SECOND)
  // Five calls that began together are one sign.
  expect((await run.state()).concurrency).toBe(trouble === 'hang' ? 10 : (await run.state()).concurrency)
  expect((await run.state()).concurrency).toBeLessThanOrEqual(10)
})

test('other failures leave concurrency as it is', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(5))
  expect((await run.state()).concurrency).toBe(8)
})

test('a destination never gets more at a time than configured', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 3 } } })
  await using _ = run
  await run.send(...tracks(50))
  expect(sink.held).toBe(3)
  await run.change('d1', { delivery: { concurrency: 1 } })
  sink.release()
  await run.settle()
  sink.answer = () => 'hang'
  await run.send(...tracks(5, () => '', 'n'))
  expect(sink.held).toBe(1)
})

test('unwritten outcomes are bounded: while they cannot be written, delivery waits', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200)
  await using _ = run
  run.writes = false
  const other = new DatabaseSync(run.file, { timeout: 5_000 })
  other.exec('BEGIN IMMEDIATE')
  for (let batch = 0; batch < 30; batch++) await run.accept(tracks(100, () => '', `b${batch}`))
  await run.advance(MINUTE)
  expect(run.store.trouble()).toBe('database is locked')
  expect(await run.delivery.trouble()).toBe('database is locked')
  expect(sink.arrivals.length).toBeGreaterThanOrEqual(1_000)
  expect(sink.arrivals.length).toBeLessThanOrEqual(1_000 + 100)
  expect(run.logged.filter(({ text }) => text === 'outcomes cannot be written; delivery is paused').length).toBe(1)

  other.exec('ROLLBACK')
  other.close()
  await run.advance(2 * SECOND)
  run.writes = true
  await run.settle()
  expect(run.store.trouble()).toBe(undefined)
  expect(sink.messageIds.length).toBe(3_000)
  expect(new Set(sink.messageIds).size).toBe(3_000)
  expect(await run.outcome('b29-99')).toBe('delivered')
})

test('while outcomes cannot be written no position moves: a crash then repeats, and loses nothing', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200)
  await using _ = run
  await run.send(track('before'))
  run.writes = false
  const other = new DatabaseSync(run.file, { timeout: 5_000 })
  other.exec('BEGIN IMMEDIATE')
  await run.accept(tracks(10))
  await run.advance(5 * SECOND)
  expect(sink.messageIds.length).toBe(11)
  await run.crash(() => {
    other.exec('ROLLBACK')
    other.close()
  })
  run.writes = true
  await run.settle()
  expect(sink.messageIds.length).toBe(21)
  expect(sink.messageIds.filter((id) => id === 'before').length).toBe(1)
  expect(await run.outcome('m-9')).toBe('delivered')
})

test('the state of a destination is known without looking at its events, and equals what a look would find', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId.startsWith('bad') ? 500 : 200))
  await using _ = run
  await run.send(track('bad-1', 'u1', { anonymousId: 'x1' }), track('bad-2', 'u2'))
  await run.send(track('a', 'u1'), track('b', 'u3', { anonymousId: 'x1' }))
  for (const prefix of ['c', 'd']) await run.send(...tracks(600, () => 'u2', prefix))
  expect(await run.state()).toMatchObject({
    ...{ pending: 0, retrying: 2, blockedEvents: 1_202, blockedUsers: 3 },
    hotId: { id: 'u2', waiting: 1_200 },
    oldestPendingAt: new Date(START).toISOString(),
  })
  await run.restart()
  expect(await run.state()).toMatchObject({ retrying: 2, blockedEvents: 1_202, hotId: { id: 'u2', waiting: 1_200 } })
  sink.answer = () => 200
  await run.advance(MINUTE)
  expect(await run.state()).toMatchObject({
    ...{ pending: 0, retrying: 0, blockedEvents: 0, blockedUsers: 0, hotId: null, oldestPendingAt: null },
    backlogBytes: 0,
  })
})
