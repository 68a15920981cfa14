import { expect, test } from 'vitest'
import { PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'
import { RemovalRecords } from './removal-records.ts'

test('owners of different partitions that record one removal count each discarded dead letter once', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  for (let n = 0; n < 20; n++) await run.accept([track(`dead-${n}`)])
  await run.advance(2 * SECOND)
  const { metrics } = run.delivery
  const { log, store, clock } = run
  const removed = [
    { scope: { destinationId: 'd1' }, reason: 'destination was removed', ranges: [], keptFrom: [], count: 0 },
  ]
  for (const own of [[1], [0], [2]]) {
    await new RemovalRecords({ log, store, clock, metrics, partitions: () => own }).record(removed)
  }
  expect(metrics.outcomes.get('d1')!.get('discarded')).toBe(20)
})

test('a removal that is recorded late ends nothing of a later connection of the same source and destination', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => (event.messageId.endsWith('dead') ? 400 : 503))
  await using _ = run
  await run.send(track('first-dead', 'a'), track('first-waiting', 'b'))
  const removed = await makeAgain(run)
  await run.send(track('second-dead', 'a'), track('second-waiting', 'b'))
  await recordsOf(run).record(removed)
  await expectSecondKept(run)
  expect(run.delivery.metrics.outcomes.get('d1')!.get('discarded')).toBe(2)
})

test('a removal that the next owner records ends nothing of a later connection of the same source and destination', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => (event.messageId.endsWith('dead') ? 400 : 503))
  await using _ = run
  await run.send(track('first-dead', 'a'), track('first-waiting', 'b'))
  const first = await run.store.spans.all()
  await makeAgain(run)
  await run.send(track('second-dead', 'a'), track('second-waiting', 'b'))
  const second = { kind: 'connection', resource: 'again', sourceId: 's1', destinationId: 'd1' } as const
  const spans = [...first, { ...second, partition: 0, fromOffset: 1, toOffset: null }]
  const positions = await run.store.outcomes.positions()
  await recordsOf(run).recordForgotten(spans, { configuration: run.configuration(), spans }, (reader, partition) => {
    return positions.find((each) => each.reader === reader && each.partition === partition)?.position
  })
  await expectSecondKept(run)
})

/** Removes the connection, and makes another one in the same change. */
function makeAgain(run: PipelineUnderTest) {
  run.connections.clear()
  run.connections.set('again', { id: 'again', sourceId: 's1', destinationId: 'd1', isEnabled: true })
  const ends = Array.from({ length: run.log.partitions }, (_, partition) => run.log.end(partition))
  return run.shard.configure({ configuration: run.configuration(), ends })
}

function recordsOf(run: PipelineUnderTest): RemovalRecords {
  const { log, store, clock, delivery } = run
  return new RemovalRecords({ log, store, clock, metrics: delivery.metrics, partitions: () => [0] })
}

async function expectSecondKept(run: PipelineUnderTest): Promise<void> {
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['second-dead'])
  const { waiting } = await run.store.outcomes.resume({ destinationId: 'd1', partitions: [0] })
  expect(waiting.map(({ offset, index }) => [offset, index])).toEqual([[1, 1]])
  for (const id of ['first-dead', 'first-waiting'])
    expect(await run.outcome(id)).toBe('discarded: connection was removed')
  expect(await run.outcome('second-waiting')).not.toContain('discarded')
}
