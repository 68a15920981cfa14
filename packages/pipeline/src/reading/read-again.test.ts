import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { PipelineUnderTest, track } from '../testing/pipeline-under-test.ts'

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

test('a range that is read again survives a crash: nothing of it is lost', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'new-1' ? 'hang' : 200), {
    sources: ['s1'],
  })
  await using _ = run
  run.sources.set('s2', { id: 's2', name: 's2', type: 'cloud', partition: 0 })
  await run.configure()
  const end = run.log.end(0)
  for (const n of [1, 2]) {
    await run.accept([track(`new-${n}`, 'u')], { source: 's2' })
    await run.accept([track(`known-${n}`, 'u')])
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
  expect(await run.outcome('new-1')).toBe('delivered')
  expect(await run.outcome('new-2')).toBe('delivered')
})
