import { LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { tracks } from '../testing/test-events.ts'

test('an event whose room is used while it is noted on disk stays in the log', async () => {
  const options = { log: new MemoryEventLog(), d1: { delivery: { concurrency: 1 } } }
  const { run, sink } = await PipelineUnderTest.withSink('hang', options)
  await using _ = run
  await run.accept(tracks(1_001, (n) => `u-${n}`))
  await run.settle()
  const delivery = run.shard.deliveries.get('d1')!
  const { lane, feed } = delivery
  expect(lane.room).toBe(0)
  delivery.beginAlone()
  sink.release()
  await run.settle()
  expect(lane.room).toBe(1)
  const before = feed.cursor(0, 0)
  const ended: number[] = []
  await feed.takeOneByOne([run.log.end(0)], async ({ index }) => {
    lane.add(replayedEvent())
    return async () => void ended.push(index)
  })
  // The note of the event is withdrawn.
  expect(ended).toEqual([1_000])
  expect(feed.cursor(0, 0)).toEqual(before)
  lane.withdraw('replay')
  delivery.endAlone()
  await run.settle()
  expect(new Set(sink.messageIds).size).toBe(1_001)
  expect(sink.messageIds).toHaveLength(1_001)
})

function replayedEvent(): LaneEvent {
  const place = { partition: 0, stream: REPLAY_STREAM, offset: 0, index: 0 }
  const facts = { sourceId: 's1', acceptedAt: 0, sizeBytes: 1, userKey: 0, anonymousKey: 0 }
  const replayed = { replayId: 'replay', letterId: undefined, acceptedAt: 0, onEnd: () => {} }
  return new LaneEvent(place, facts, { messageId: 'replayed' } as never, replayed)
}
