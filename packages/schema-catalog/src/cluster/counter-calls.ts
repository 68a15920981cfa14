import type { CatalogLimits } from '../limits.ts'
import type { CatalogSource } from '../observe/model.ts'
import type { CatalogNotice, SourceStatus } from '../thread/catalog-calls.ts'
import type { CatalogStream } from '../thread/catalog-log.ts'
import type { LoadedCatalog } from './catalog-file.ts'

/** What the thread is started with that counts for the cluster. */
export interface CounterThreadData {
  readonly file: string
  readonly limits: CatalogLimits
}

/** A part of a partition, in order. */
export interface PartToCount {
  readonly partition: number
  readonly stream: CatalogStream
  readonly from: number
  /** Records as the log frames them. */
  readonly frames: Uint8Array<ArrayBuffer>
  /** Records from here on are not counted yet. */
  readonly next: number
  /** Indexes of duplicate events, by offset. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

export interface CountedPart {
  /** Where it is read on: before `next` if a record cannot be read. */
  readonly next: number
  /** Why the record at `next` cannot be read. */
  readonly trouble: string | undefined
  /** Whether so much is counted that it is time to commit. */
  readonly isCommitDue: boolean
}

/** Up to where a partition is counted. */
export interface CountedPlace {
  readonly partition: number
  readonly position: number
}

export interface BegunCatalog {
  readonly places: readonly CountedPlace[]
  /** Whether a removal `migration` is due. */
  readonly isOutdated: boolean
  /** As `configure` returns. */
  readonly mustNarrow: boolean
}

/** A change of nearly everything, or one after which nothing removed may be left: it is stored as a snapshot. */
export type Removal =
  | { readonly kind: 'purge'; readonly sourceId: string }
  /** Of the sources of the last `configure`. */
  | { readonly kind: 'narrow' }
  | { readonly kind: 'rebuild' }
  /** Removes what an earlier version left and this one does not keep. */
  | { readonly kind: 'migration' }

/** The functions of the thread that counts for the cluster. */
export type CounterCalls = {
  /** @see CatalogFile.replace */
  replace(snapshot: string | undefined): LoadedCatalog
  /** Drops what is not committed. @see CatalogFile.open */
  open(nothing: undefined): LoadedCatalog
  apply(changes: Uint8Array): number
  /** Begins to count, after the last change was applied. */
  begin(sources: readonly CatalogSource[]): BegunCatalog
  /** @returns whether less may be kept of some than before: a removal `narrow` is due. */
  configure(sources: readonly CatalogSource[]): boolean
  count(part: PartToCount): CountedPart
  /** What was counted since the last commit; undefined: nothing. `settle` commits it once it is stored. */
  changes(change: number): Uint8Array | undefined
  settle(nothing: undefined): void
  knows(sourceId: string): boolean
  /** Makes and commits it, under the number of a change. */
  remove(removal: Removal & { readonly change: number }): void
  /** Writes a copy of what is committed. */
  copyTo(file: string): void
  status(nothing: undefined): readonly SourceStatus[]
  close(nothing: undefined): void
}

/** What the thread says unasked. */
export type CounterNotice = Extract<CatalogNotice, { kind: 'cut' | 'unreadable' }>
