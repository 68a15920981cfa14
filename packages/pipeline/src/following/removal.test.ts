import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { HOUR, PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track, tracks } from '../testing/test-events.ts'

test('removing a destination ends what waits and its open dead letters as discarded', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'bad' ? 400 : 500))
  await using _ = run
  await run.send(track('bad'), ...tracks(3, () => 'u'), track('v', 'v'))
  await run.change('d1', { delivery: { concurrency: 1 } })
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(5)
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  const attempts = sink.arrivals.length
  for (const id of ['bad', 'm-0', 'm-2', 'v']) expect(await run.outcome(id)).toBe('discarded: destination was removed')
  expect(run.delivery.metrics.outcomes.get('d1')!.get('discarded')).toBe(5)
  expect(await run.deadLetters()).toEqual([])
  expect((await run.deadLetters({ state: 'discarded' })).map(({ reason }) => reason)).toEqual(['answered 400'])
  await run.restart()
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.outcome('m-1')).toBe('discarded: destination was removed')
})

test('a destination that never answered anything can be removed, too', async () => {
  const { run } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 2 } } })
  await using _ = run
  await run.accept(tracks(1_500))
  await run.settle()
  expect(await run.delivery.waiting({ destinationId: 'd1' })).toBe(1_500)
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  for (const n of [0, 1, 999, 1_499]) expect(await run.outcome(`m-${n}`)).toBe('discarded: destination was removed')
  expect(run.delivery.metrics.outcomes.get('d1')!.get('discarded')).toBe(1_500)
})

test('what was delivered just before a removal stays delivered', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'm-1' ? 500 : 200))
  await using _ = run
  run.writes = false
  await run.accept(tracks(3))
  await run.settle()
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  run.writes = true
  await run.settle()
  expect(await run.outcome('m-0')).toBe('delivered')
  expect(await run.outcome('m-1')).toBe('discarded: destination was removed')
})

test.each([
  ['connection', 'connection was removed'],
  ['source', 'source was removed'],
])('removing a %s ends its waiting events, and those of the others go on', async (kind, reason) => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', {
    sources: ['a', 'b'],
    d1: { delivery: { concurrency: 1 } },
  })
  await using _ = run
  await run.accept(
    tracks(1_500, () => '', 'a'),
    { source: 'a' },
  )
  await run.accept(
    tracks(3, () => '', 'b'),
    { source: 'b' },
  )
  await run.settle()
  expect(await run.delivery.waiting({ sourceId: 'a' })).toBe(1_500)
  run.connections.delete('a-d1')
  if (kind === 'source') run.sources.delete('a')
  await run.configure()
  sink.release()
  await run.settle()
  for (const n of [0, 1, 1_200, 1_499]) expect(await run.outcome(`a-${n}`)).toBe(`discarded: ${reason}`)
  for (const n of [0, 1, 2]) expect(await run.outcome(`b-${n}`)).toBe('delivered')
  expect(sink.messageIds).toEqual(['a-0', 'b-0', 'b-1', 'b-2'])
  expect(await run.delivery.waiting({})).toBe(0)
})

test('waiting events of a connection that was disabled before its removal are counted and discarded', async () => {
  const { run } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept(tracks(10))
  await run.accept(tracks(1_990, () => '', 'n'))
  await run.settle()
  run.connect('s1', 'd1', false)
  await run.configure()
  await run.send(...tracks(7, () => '', 'while'))
  expect(await run.delivery.waiting({ sourceId: 's1' })).toBe(2_000)
  run.connections.clear()
  await run.configure()
  expect(await run.outcome('n-1989')).toBe('discarded: connection was removed')
  expect(run.delivery.metrics.outcomes.get('d1')!.get('discarded')).toBe(2_000)
})

test('a removal that a crash kept from being recorded is recorded at the next start', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'bad' ? 400 : 500))
  await using _ = run
  // The first waits on disk, before the position; the last has not been read yet.
  await run.send(track('bad'), ...tracks(3, () => 'u'))
  await run.crash(async () => {
    await run.accept([track('unread', 'v')])
    run.destinations.delete('d1')
    run.connections.clear()
  })
  for (const id of ['bad', 'm-0', 'm-2', 'unread']) {
    expect(await run.outcome(id)).toBe('discarded: destination was removed')
  }
  const attempts = sink.arrivals.length
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(attempts)
})

test('a removal whose recording fails is recorded at the next start', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(3))
  const file = run.file
  run.destinations.delete('d1')
  run.connections.clear()
  const other = new DatabaseSync(file, { timeout: 5_000 })
  other.exec('CREATE TRIGGER full BEFORE INSERT ON ranges BEGIN SELECT RAISE(ABORT, "disk is full"); END')
  await expect(run.configure()).rejects.toThrow('disk is full')
  other.exec('DROP TRIGGER full')
  other.close()
  await run.restart()
  for (let n = 0; n < 3; n++) expect(await run.outcome(`m-${n}`)).toBe('discarded: destination was removed')
})

test('when the events in flight are discarded, those of the others go at once', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ event }) => (event.messageId.startsWith('a') ? 'hang' : 200),
    { sources: ['a', 'b'], d1: { delivery: { concurrency: 1 } } },
  )
  await using _ = run
  await run.accept(
    tracks(5, () => '', 'a'),
    { source: 'a' },
  )
  await run.accept(
    tracks(3, () => '', 'b'),
    { source: 'b' },
  )
  await run.settle()
  expect(sink.messageIds).toEqual(['a-0'])
  run.connections.delete('a-d1')
  await run.configure()
  expect(sink.messageIds).toEqual(['a-0', 'b-0', 'b-1', 'b-2'])
})

test('a destination that is removed before anything of it is written shows what became of its events', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  const hanging = run.own(await Sink.start('hang'))
  run.writes = false
  await run.change('d2', { config: { webhookUrl: hanging.url } })
  await run.accept([track('m')])
  await run.settle()
  run.destinations.delete('d2')
  run.connections.delete('s1-d2')
  await run.configure()
  expect(await run.outcome('m', 'd2')).toBe('discarded: destination was removed')
  run.writes = true
})
