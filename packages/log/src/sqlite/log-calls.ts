import type { MessagePort } from 'node:worker_threads'
import type { FramedResult, Offset, OffsetRange } from '../event-log.ts'
import type { ScanResult } from './back-reader.ts'
import type { CommitSpan } from './ring-frames.ts'
import type { Commit, EncodedRecord } from './segments/commit.ts'
import type { StreamNumber } from './segments/stream-number.ts'

/** Start data of the log thread. */
export interface LogThreadData {
  readonly directory: string
  readonly segmentBytes: number
  readonly segmentMs: number
  readonly notBefore: Offset
  /** Whether a source has a window: recent keys are then loaded at start, not with the first append. */
  readonly hasDedup: boolean
}

/** A commit sent to the log thread; its records and their rules are in shared memory. */
export interface CommitMessage extends CommitSpan {
  readonly tallies: Commit['tallies']
}

export interface Appended {
  /** Offset of the first record; the rest follow without gaps. */
  readonly first: Offset
  /** Indexes of duplicates by the record's place in the commit. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

/** Calls for single records and counts, which other threads may make through a port. */
export type LookUpCalls = Pick<LogCalls, 'get' | 'tally' | 'oldest'>

/** Calls to the log thread. */
export type LogCalls = {
  open(nothing: undefined): { end: Offset; damaged: readonly OffsetRange[]; sizeBytes: number }
  /** Sets the shared memory of commits; call it before the first commit. */
  share(memory: SharedArrayBuffer): void
  append(commit: CommitMessage): Appended
  probe(nothing: undefined): void
  read(request: { stream: StreamNumber; from: Offset; maxBytes: number }): { records: EncodedRecord[]; next: Offset }
  get(request: { partition: number; offsets: readonly Offset[] }): (EncodedRecord | undefined)[]
  tally(request: { stream: StreamNumber; range: OffsetRange }): [string, { events: number; bytes: number }][]
  deletedBefore(nothing: undefined): Offset
  oldestUnit(nothing: undefined): OffsetRange | undefined
  oldest(partition: number): { offset: Offset; acceptedAt: number } | undefined
  /** Reads the whole segment with this offset, and sets it aside if it is damaged. */
  inspect(offset: Offset): void
  /** Deletes one segment at most. @returns whether it did. */
  retain(request: { finishedBefore: Offset; keepMs: number; now: number }): boolean
  sizeBytes(nothing: undefined): number
  closeNewest(nothing: undefined): Offset
  closedBefore(end: Offset): Offset[] | undefined
  /** Answers look-ups from another thread; the port moves here. */
  connect(port: MessagePort): void
  close(nothing: undefined): Promise<void>
}

/** Calls to the read-only thread for searches; its start data is the directory. */
export type BackCalls = {
  readBack(request: { partition: number; before: Offset; maxBytes: number }): FramedResult
  scan(request: { partition: number; from: Offset; maxBytes: number }): ScanResult
}

/** Notification of the thread: records are lost to damage. */
export interface DamageNotice {
  readonly range: OffsetRange
  readonly cause: string
}
