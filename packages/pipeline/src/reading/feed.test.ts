import { MemoryEventLog, type Offset, type ReadResult, type Stream } from '@millrace/log'
import { expect, test } from 'vitest'
import { PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'

/** Finds a record only at every second look, as a reader does that is behind those who told of the record. */
class HesitatingLog extends MemoryEventLog {
  readonly #looks = new Map<Offset, number>()

  override async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    const looks = (this.#looks.get(from) ?? 0) + 1
    this.#looks.set(from, looks)
    return looks % 2 === 0 ? { records: [], next: from } : super.read(partition, stream, from, maxBytes)
  }
}

test('a record of which a part was taken is not begun again when a read finds nothing', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { log: new HesitatingLog() })
  await using _ = run
  // A lane has room for 1,000.
  const messageIds = Array.from({ length: 1_500 }, (_, n) => `m-${n}`)
  await run.accept(messageIds.map((messageId, n) => track(messageId, `u-${n}`)))
  await run.settle()
  expect(sink.messageIds.toSorted()).toEqual(messageIds.toSorted())
})
