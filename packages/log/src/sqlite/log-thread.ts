import { workerData } from 'node:worker_threads'
import { answerCalls, notifyCaller, Transferred } from '@millrace/std/thread-calls'
import { framesOf } from './commit-ring.ts'
import type { DamageNotice, LogCalls, LogThreadData } from './log-calls.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { Segments } from './segments/segments.ts'

/** The log thread: the only writer of its files. */
const data = workerData as LogThreadData
let segments: Segments
let memory: Uint8Array

const lookUps: Pick<ThreadFunctions, 'get' | 'tally' | 'oldest'> = {
  get({ partition, offsets }) {
    const records = offsets.map((offset) => segments.get(partition, offset))
    return new Transferred(records, buffersOf(records.filter((record) => record !== undefined)))
  },
  tally: ({ stream, range }) => [...segments.tally(stream, range)],
  oldest: (partition) => segments.oldest(partition),
}

answerCalls<ThreadFunctions>({
  ...lookUps,
  open() {
    segments = new Segments({
      ...data,
      onDamage: (range, cause) => notifyCaller({ range, cause } satisfies DamageNotice),
    })
    return { end: segments.end, damaged: segments.damaged, sizeBytes: segments.sizeBytes() }
  },
  share(shared) {
    memory = new Uint8Array(shared)
  },
  append: ({ start, end, tallies }) => segments.append({ entries: [...framesOf(memory, { start, end })], tallies }),
  probe: () => segments.probe(),
  read({ stream, from, maxBytes }) {
    const result = segments.read(stream, from, maxBytes)
    return new Transferred(result, buffersOf(result.records))
  },
  deletedBefore: () => segments.deletedBefore(),
  oldestUnit: () => segments.oldestClosed(),
  inspect: (offset) => segments.inspect(offset),
  retain: ({ finishedBefore, keepMs, now }) => segments.retain(finishedBefore, keepMs, now),
  sizeBytes: () => segments.sizeBytes(),
  closeNewest: () => segments.closeNewest(),
  closedBefore: (end) => segments.closedBefore(end),
  connect: (port) => answerCalls(lookUps, port),
  close: () => segments.close(),
})

/** The calls as implemented here: two of them transfer buffers to the caller. */
type ThreadFunctions = Omit<LogCalls, 'read' | 'get'> & {
  read(request: Parameters<LogCalls['read']>[0]): Transferred<ReturnType<LogCalls['read']>>
  get(offsets: Parameters<LogCalls['get']>[0]): Transferred<ReturnType<LogCalls['get']>>
}

function buffersOf(records: readonly EncodedRecord[]): ArrayBuffer[] {
  return [...new Set(records.map(({ bytes }) => bytes.buffer))]
}
