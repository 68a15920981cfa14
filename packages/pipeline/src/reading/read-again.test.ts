import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'

test('a shard that has read further than a connection begins reads the range again, for its source alone', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1'], log: new MemoryEventLog() })
  await using _ = run
  run.sources.set('s2', { id: 's2', name: 's2', type: 'cloud', partition: 0 })
  await run.configure()
  await run.accept([track('before', 'u')], { source: 's2' })
  const end = run.log.end(0)
  for (const n of [1, 2, 3]) {
    await run.accept([track(`known-${n}`, 'u')])
    await run.accept([track(`new-${n}`, 'u')], { source: 's2' })
  }
  await run.settle()
  expect(sink.messageIds).toEqual(['known-1', 'known-2', 'known-3'])

  run.connect('s2', 'd1')
  await run.shard.configure({ configuration: run.configuration(), ends: [end] })
  await run.accept([track('known-4', 'u')])
  await run.accept([track('new-4', 'u')], { source: 's2' })
  await run.settle()
  expect(sink.messageIds.filter((id) => id.startsWith('known'))).toEqual(['known-1', 'known-2', 'known-3', 'known-4'])
  expect(sink.messageIds.filter((id) => !id.startsWith('known'))).toEqual(['new-1', 'new-2', 'new-3', 'new-4'])
})

test.each([
  ['that was new', 'new-1'],
  ['that was taken before the reader went back', 'known-2'],
])('a range that is read again survives a crash while an event %s has no outcome: nothing is lost', async (_, open) => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1'] })
  await using _run = run
  sink.answer = ({ event }) => (event.messageId === open || event.messageId.startsWith('new') ? 'hang' : 200)
  run.sources.set('s2', { id: 's2', name: 's2', type: 'cloud', partition: 0 })
  await run.configure()
  const end = run.log.end(0)
  for (const n of [1, 2]) {
    await run.accept([track(`new-${n}`, `u-${n}`)], { source: 's2' })
    await run.accept([track(`known-${n}`, `u-${n}`)])
  }
  await run.settle()
  run.connect('s2', 'd1')
  const change = { configuration: run.configuration(), ends: [end] }
  await run.shard.configure(change)
  // The host writes the spans of the same change.
  const span = { kind: 'connection', resource: 's2-d1', sourceId: 's2', destinationId: 'd1' } as const
  await run.store.spans.write({ put: [{ ...span, partition: 0, fromOffset: end, toOffset: null }], remove: [] })
  await run.settle()
  sink.answer = () => 200
  await run.crash()
  expect(sink.messageIds.filter((id) => id === 'known-1')).toHaveLength(1)
  for (const id of ['known-1', 'known-2', 'new-1', 'new-2'])
    expect([id, await run.outcome(id)]).toEqual([id, 'delivered'])
})

test('a connection that is switched off and on before the reader knows repeats nothing', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1'], log: new MemoryEventLog() })
  await using _ = run
  await run.accept([track('m-0', 'u')])
  const end = run.log.end(0)
  for (const n of [1, 2, 3]) await run.accept([track(`m-${n}`, 'u')])
  await run.settle()
  for (const isEnabled of [false, true]) {
    run.connect('s1', 'd1', isEnabled)
    await run.shard.configure({ configuration: run.configuration(), ends: [end] })
  }
  await run.accept([track('m-4', 'u')])
  await run.settle()
  expect(sink.messageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4'])
})

test('a connection that is removed and added again before the reader knows repeats nothing, and keeps what waits', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1'], log: new MemoryEventLog() })
  await using _ = run
  sink.answer = ({ event }) => (event.messageId === 'm-2' ? 503 : 200)
  await run.accept([track('m-0', 'u-0')])
  const end = run.log.end(0)
  for (const n of [1, 2, 3]) await run.accept([track(`m-${n}`, `u-${n}`)])
  await run.settle()
  run.connections.set('again', { ...run.connections.get('s1-d1')!, id: 'again' })
  run.connections.delete('s1-d1')
  sink.answer = () => 200
  await run.shard.configure({ configuration: run.configuration(), ends: [end] })
  await run.accept([track('m-4', 'u-4')])
  await run.settle()
  expect(sink.messageIds.toSorted()).toEqual(['m-0', 'm-1', 'm-2', 'm-2', 'm-3', 'm-4'])
})

test('a second new connection repeats nothing of a record that was taken in part', async () => {
  const options = { sources: ['s1'], log: new MemoryEventLog(), memoryBytes: 1, d1: { delivery: { concurrency: 1 } } }
  const { run, sink } = await PipelineUnderTest.withSink(200, options)
  await using _ = run
  for (const id of ['s2', 's3']) run.sources.set(id, { id, name: id, type: 'cloud', partition: 0 })
  await run.configure()
  const ends = [run.log.end(0)]
  for (const count of [10, 40]) {
    const batch = Array.from({ length: count }, (__, n) => track(`${count}-${n}`, `u-${n}`))
    await run.accept(batch, { source: 's2' })
  }
  await run.accept([track('third', 'v')], { source: 's3' })
  await run.accept([track('known', 'u')])
  await run.settle()
  sink.answer = () => 'hang'
  run.connect('s2', 'd1')
  await run.shard.configure({ configuration: run.configuration(), ends })
  await run.settle()
  expect(run.shard.deliveries.get('d1')!.feed.cursor(0, 0).index).toBeGreaterThan(0)
  run.connect('s3', 'd1')
  await run.shard.configure({ configuration: run.configuration(), ends })
  await run.settle()
  sink.release()
  await run.settle()
  expect(sink.messageIds).toHaveLength(52)
  expect(new Set(sink.messageIds).size).toBe(52)
})
