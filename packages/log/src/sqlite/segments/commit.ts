import type { DecidedCommit } from '../../dedup/decided-commit.ts'
import type { DedupRule } from '../../dedup.ts'
import type { Offset } from '../../event-log.ts'
import type { StreamNumber } from './stream-number.ts'

export interface EncodedRecord {
  readonly offset: Offset
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Indexes of its duplicates, as u16 values. */
  readonly duplicates?: Uint8Array
}

export interface CommitEntry {
  readonly stream: StreamNumber
  readonly bytes: Uint8Array
  readonly rule?: DedupRule | undefined
}

/** One commit: records of all streams, in the order of their offsets. */
export interface Commit {
  readonly entries: readonly CommitEntry[]
  /** Per stream with entries: source id, events, bytes. */
  readonly tallies: readonly { readonly stream: StreamNumber; readonly counts: readonly [string, number, number][] }[]
  /** Deduplication result; absent without a rule. */
  readonly decided?: DecidedCommit
}
