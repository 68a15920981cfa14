export {
  ATTEMPTS,
  type BatchAttempt,
  type Dedup,
  type DedupRule,
  type DuplicateMarks,
  MAX_DEDUP_WINDOW_MS,
  type RulesRead,
} from './dedup.ts'
export {
  type Append,
  type EventLog,
  type FramedResult,
  type LogReader,
  LogUnavailableError,
  type LogWriter,
  type Offset,
  type OffsetRange,
  type ReadResult,
  STREAMS,
  type StoredRecord,
  type Stream,
  streamOf,
  type Tally,
} from './event-log.ts'
export { duplicateBytes, framedRecords, knownRecords, recordOf } from './frames.ts'
export { MemoryEventLog } from './memory/memory-event-log.ts'
export { ForwardReader } from './sqlite/forward-reader.ts'
export { streamsIn, streamTable } from './sqlite/segments/stream-table.ts'
export { lostCommits } from './sqlite/segments/wal.ts'
export { SqliteEventLog, type SqliteEventLogOptions } from './sqlite/sqlite-event-log.ts'
export { type SharedLog, ThreadEventLog } from './sqlite/thread-event-log.ts'
export { addToTally } from './tally.ts'
