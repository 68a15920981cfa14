import type { BackReadResult, Offset, OffsetRange, Stream } from '../event-log.ts'
import type { CommitSpan } from './commit-ring.ts'
import type { Commit, EncodedRecord } from './segment.ts'

/** What the log's thread is started with. */
export interface LogThreadData {
  readonly directory: string
  readonly segmentBytes: number
  readonly segmentMs: number
  readonly notBefore: Offset
}

/** One commit as it crosses to the log's thread: its records lie in the memory that both share. */
export interface CommitMessage extends CommitSpan {
  readonly tallies: Commit['tallies']
}

/** The functions of the log's thread. */
export type LogCalls = {
  open(nothing: undefined): { end: Offset; damaged: readonly OffsetRange[]; sizeBytes: number }
  /** The memory that commits are read from; comes before the first of them. */
  share(memory: SharedArrayBuffer): void
  append(commit: CommitMessage): Offset
  probe(nothing: undefined): void
  read(request: { stream: Stream; from: Offset; maxBytes: number }): { records: EncodedRecord[]; next: Offset }
  get(offsets: readonly Offset[]): (EncodedRecord | undefined)[]
  tally(request: { stream: Stream; range: OffsetRange }): [string, { events: number; bytes: number }][]
  oldest(nothing: undefined): { offset: Offset; acceptedAt: number } | undefined
  retain(request: { finishedBefore: Offset; keepMs: number; now: number }): void
  sizeBytes(nothing: undefined): number
  close(nothing: undefined): Promise<void>
}

/** The functions of the thread that reads backwards; it is started with the directory. */
export type BackCalls = {
  readBack(request: { before: Offset; maxBytes: number }): BackReadResult
}

/** What the thread says unasked: a segment was set aside. */
export interface DamageNotice {
  readonly range: OffsetRange
  readonly cause: string
}
