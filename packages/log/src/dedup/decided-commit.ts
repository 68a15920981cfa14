import type { AttemptEntry } from './attempts.ts'

/** Deduplication result of a commit, before it is written. */
export interface DecidedCommit {
  /** Indexes of duplicates by the record's place in the commit; only records with duplicates. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** Keys of the other events of sources with a window. */
  readonly entries: Uint8Array
  /** Keys of the other events of attempts. */
  readonly attempts: readonly AttemptEntry[]
  /** Keys of all events of repeats, and the time of the last one; undefined without any. */
  readonly repeated: { readonly acceptedAt: number; readonly keys: Uint8Array } | undefined
}
