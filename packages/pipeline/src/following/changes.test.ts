import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track, tracks } from '../testing/test-events.ts'

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
  run.sources.set('s2', { id: 's2', name: 's2', type: 'cloud', partition: 0 })
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
  expect(await run.delivery.waiting({ destinationId: 'd1', sourceId: 'a' })).toBe(2_499)

  await run.restart()
  expect(await run.delivery.waiting({ destinationId: 'd1', sourceId: 'a' })).toBe(2_499)
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
