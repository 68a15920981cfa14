import type { DedupRule } from '../dedup.ts'
import type { FramedResult, Offset, OffsetRange, Stream } from '../event-log.ts'
import type { CommitSpan } from './commit-ring.ts'
import type { Commit, EncodedRecord } from './segments/segment.ts'

/** What the log's thread is started with. */
export interface LogThreadData {
  readonly directory: string
  readonly segmentBytes: number
  readonly segmentMs: number
  readonly notBefore: Offset
  /** Whether sources have a window: then what it holds is read at the start, and not with the first append. */
  readonly hasDedup: boolean
}

/** One commit as it crosses to the log's thread: its records lie in the memory that both share. */
export interface CommitMessage extends CommitSpan {
  readonly tallies: Commit['tallies']
  /** Of records of which duplicates are told, or may be later: their places in the commit. */
  readonly rules: readonly (readonly [place: number, rule: DedupRule])[]
}

export interface Appended {
  /** Offset of the first record; the others follow without gaps. */
  readonly first: Offset
  /** Indexes of duplicates, by the record's place in the commit. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

/** The functions of the log's thread. */
export type LogCalls = {
  open(nothing: undefined): { end: Offset; damaged: readonly OffsetRange[]; sizeBytes: number }
  /** The memory that commits are read from; comes before the first of them. */
  share(memory: SharedArrayBuffer): void
  append(commit: CommitMessage): Appended
  probe(nothing: undefined): void
  read(request: { stream: Stream; from: Offset; maxBytes: number }): { records: EncodedRecord[]; next: Offset }
  get(offsets: readonly Offset[]): (EncodedRecord | undefined)[]
  tally(request: { stream: Stream; range: OffsetRange }): [string, { events: number; bytes: number }][]
  oldestUnit(nothing: undefined): OffsetRange | undefined
  oldest(nothing: undefined): { offset: Offset; acceptedAt: number } | undefined
  retain(request: { finishedBefore: Offset; keepMs: number; now: number }): void
  sizeBytes(nothing: undefined): number
  closeNewest(nothing: undefined): Offset
  closedBefore(end: Offset): Offset[] | undefined
  close(nothing: undefined): Promise<void>
}

/** The functions of the thread that reads for those who look at what was; it is started with the directory. */
export type BackCalls = {
  readBack(request: { before: Offset; maxBytes: number }): FramedResult
  scan(request: { from: Offset; maxBytes: number }): FramedResult
}

/** What the thread says unasked: a segment was set aside. */
export interface DamageNotice {
  readonly range: OffsetRange
  readonly cause: string
}
