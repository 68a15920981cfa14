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
  const removed = [{ scope: { destinationId: 'd1' }, reason: 'destination was removed', ranges: [], count: 0 }]
  for (const own of [[1], [0], [2]]) {
    await new RemovalRecords({ log, store, clock, metrics, partitions: () => own }).record(removed)
  }
  expect(metrics.outcomes.get('d1')!.get('discarded')).toBe(20)
})
