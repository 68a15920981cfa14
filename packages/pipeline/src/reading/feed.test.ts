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

/** A log whose broker deletes records while its readers wait. */
class CutLog extends MemoryEventLog {
  deletedTo = 0
  gate: Promise<void> | undefined

  override async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    await this.gate
    const to = this.deletedTo
    const result = await super.read(partition, stream, Math.max(from, to), maxBytes)
    return from < to ? { ...result, gap: { from, to } } : result
  }
}

test('what retention deletes before the shared reader comes to it is reported for each destination that keeps up', async () => {
  const log = new CutLog()
  const gaps: unknown[] = []
  const onGap = async (destinationId: string, _: unknown, partition: number, gap: object) => {
    gaps.push([destinationId, partition, gap])
  }
  const { run, sink } = await PipelineUnderTest.withSink(200, { log, onGap })
  await using _ = run
  await run.send(track('m-0'))
  const { promise, resolve } = Promise.withResolvers<void>()
  log.gate = promise
  for (const n of [1, 2, 3, 4]) await run.accept([track(`m-${n}`)])
  log.deletedTo = 3
  log.gate = undefined
  resolve()
  await run.settle()
  expect(gaps).toEqual([['d1', 0, { from: 1, to: 3 }]])
  expect(sink.messageIds).toEqual(['m-0', 'm-3', 'm-4'])
})
