import { DatabaseSync } from 'node:sqlite'
import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, track, tracks } from './testing/pipeline-under-test.ts'
import { Sink } from './testing/sink.ts'

test('a new connection starts at the end of the log', async () => {
  const { run } = await PipelineUnderTest.withSink(200, { log: new MemoryEventLog(3), sources: ['s1', 's2', 's3'] })
  await using _ = run
  const sources = ['s1', 's2', 's3']
  for (const source of sources) await run.accept([track(`before ${source}`)], { source })
  await run.settle()
  const late = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: late.url } })
  for (const source of sources) await run.accept([track(`after ${source}`)], { source })
  await run.restart()
  expect(late.messageIds.toSorted()).toEqual(sources.map((source) => `after ${source}`))
  expect(await run.outcome('before s1', 'd2')).toBe(undefined)
})

test('a new connection of an old destination begins when it is made', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1'] })
  await using _ = run
  run.sources.set('s2', { id: 's2', type: 'cloud' })
  await run.configure()
  await run.accept([track('before')], { source: 's2' })
  await run.settle()
  run.connect('s2', 'd1')
  await run.configure()
  await run.accept([track('after')], { source: 's2' })
  await run.settle()
  expect(sink.messageIds).toEqual(['after'])
})

test('what was accepted while a connection is disabled is not for it', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('before'))
  run.connect('s1', 'd1', false)
  await run.configure()
  await run.send(track('while'))
  await run.restart()
  run.connect('s1', 'd1', true)
  await run.configure()
  await run.send(track('after'))
  expect(sink.messageIds).toEqual(['before', 'after'])
  expect(await run.outcome('while')).toBe(undefined)
})

test('a disabled destination keeps what waits without attempts and filters what comes; enabled it delivers', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(5, () => 'u', 'waiting'))
  await run.change('d1', { isEnabled: false })
  const attempts = sink.arrivals.length
  await run.send(track('while', 'v'))
  await run.advance(4 * HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.outcome('while')).toBe('filtered: destination is disabled')
  expect(await run.outcome('waiting-4')).toBe('blocked: waits for waiting-3')

  sink.answer = ({ event, n }) => (event.userId === 'u' && n < 5 ? 500 : 200)
  await run.change('d1', { isEnabled: true })
  await run.advance(MINUTE)
  // The four hours do not count: it has failed again, and is not given up.
  expect(await run.outcome('waiting-0')).toBe('retrying')
  await run.advance(HOUR)
  for (let n = 0; n < 5; n++) expect(await run.outcome(`waiting-${n}`)).toBe('delivered')
  await run.send(track('after', 'v'))
  expect(await run.outcome('after')).toBe('delivered')
})

test('a destination that is disabled over a restart keeps what waits', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(3))
  await run.change('d1', { isEnabled: false })
  const attempts = sink.arrivals.length
  await run.restart(() => run.accept([track('down')]))
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.outcome('down')).toBe('filtered: destination is disabled')
  sink.answer = () => 200
  await run.change('d1', { isEnabled: true })
  await run.advance(MINUTE)
  for (let n = 0; n < 3; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
})

test('a disabled connection keeps its waiting events, however many, and the other sources go on', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ path: _, event }) => (event.userId === 'a' ? 'hang' : 200),
    {
      sources: ['a', 'b'],
      d1: { delivery: { concurrency: 1 } },
    },
  )
  await using _ = run
  await run.accept(
    tracks(2_500, () => 'a', 'a'),
    { source: 'a' },
  )
  await run.settle()
  run.connect('a', 'd1', false)
  sink.release()
  await run.configure()
  await run.accept(
    tracks(50, () => 'b', 'b'),
    { source: 'b' },
  )
  await run.settle()
  expect(sink.messageIds.filter((id) => id.startsWith('b')).length).toBe(50)
  expect(sink.messageIds.filter((id) => id.startsWith('a')).length).toBe(1)
  expect(await run.pipeline.waiting({ destinationId: 'd1', sourceId: 'a' })).toBe(2_499)

  await run.restart()
  expect(await run.pipeline.waiting({ destinationId: 'd1', sourceId: 'a' })).toBe(2_499)
  run.connect('a', 'd1', true)
  await run.configure()
  await run.advance(MINUTE)
  const fromA = sink.messageIds.filter((id) => id.startsWith('a'))
  expect(fromA).toEqual(Array.from({ length: 2_500 }, (_, n) => `a-${n}`))
})

test('events of a disabled connection are under no limit', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500, { sources: ['a', 'b'] })
  await using _ = run
  await run.accept([track('kept')], { source: 'a' })
  await run.settle()
  run.connect('a', 'd1', false)
  await run.configure()
  await run.accept(tracks(30), { source: 'b' })
  await run.advance(4 * HOUR)
  expect(await run.outcome('kept')).not.toMatch('dead')
  expect((await run.state()).deadLettersOpen).toBe(30)
  sink.answer = () => 200
  run.connect('a', 'd1', true)
  await run.configure()
  await run.advance(MINUTE)
  expect(await run.outcome('kept')).toBe('delivered')
})

test('removing a destination ends what waits and its open dead letters as discarded', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'bad' ? 400 : 500))
  await using _ = run
  await run.send(track('bad'), ...tracks(3, () => 'u'), track('v', 'v'))
  await run.change('d1', { delivery: { concurrency: 1 } })
  expect(await run.pipeline.waiting({ destinationId: 'd1' })).toBe(5)
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  const attempts = sink.arrivals.length
  for (const id of ['bad', 'm-0', 'm-2', 'v']) expect(await run.outcome(id)).toBe('discarded: destination was removed')
  expect(run.pipeline.metrics.outcomes.get('d1')!.get('discarded')).toBe(5)
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
  expect(await run.pipeline.waiting({ destinationId: 'd1' })).toBe(1_500)
  run.destinations.delete('d1')
  run.connections.clear()
  await run.configure()
  for (const n of [0, 1, 999, 1_499]) expect(await run.outcome(`m-${n}`)).toBe('discarded: destination was removed')
  expect(run.pipeline.metrics.outcomes.get('d1')!.get('discarded')).toBe(1_500)
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
  expect(await run.pipeline.waiting({ sourceId: 'a' })).toBe(1_500)
  run.connections.delete('a-d1')
  if (kind === 'source') run.sources.delete('a')
  await run.configure()
  sink.release()
  await run.settle()
  for (const n of [0, 1, 1_200, 1_499]) expect(await run.outcome(`a-${n}`)).toBe(`discarded: ${reason}`)
  for (const n of [0, 1, 2]) expect(await run.outcome(`b-${n}`)).toBe('delivered')
  expect(sink.messageIds).toEqual(['a-0', 'b-0', 'b-1', 'b-2'])
  expect(await run.pipeline.waiting({})).toBe(0)
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
  expect(await run.pipeline.waiting({ sourceId: 's1' })).toBe(2_000)
  run.connections.clear()
  await run.configure()
  expect(await run.outcome('n-1989')).toBe('discarded: connection was removed')
  expect(run.pipeline.metrics.outcomes.get('d1')!.get('discarded')).toBe(2_000)
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
