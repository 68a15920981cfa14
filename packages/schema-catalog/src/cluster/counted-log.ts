import type { FollowedLog } from '../schema-catalog.ts'
import type { CatalogStream } from '../thread/catalog-log.ts'

/** What the catalog of a cluster needs of the log. Partitions from `homes` on hold backfills. */
export interface CountedLog extends FollowedLog {
  readonly homes: number
  /** Where all partitions end now. */
  readEnds(): Promise<readonly number[]>
  deletedBefore(partition: number): Promise<number>
  /** Hears of the records of a partition from now on. @returns a function that ends it. */
  follow(partition: number): Promise<() => void>
  scan(
    partition: number,
    from: number,
    maxBytes: number,
  ): Promise<{ readonly frames: Uint8Array<ArrayBuffer>; readonly next: number }>
}

export function streamOf({ homes }: Pick<CountedLog, 'homes'>, partition: number): CatalogStream {
  return partition < homes ? 'live' : 'backfill'
}

/**
 * What the owner of a partition has decided about its duplicates. The catalog counts a record only once it is decided.
 *
 * @see contracts/cluster.md §3 [K17]
 */
export interface DecidedPart {
  /** All records before it are decided; at most the end that was asked for, and less if the owner is behind. */
  readonly to: number
  /** Indexes of duplicate events, by offset. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

/** What is decided of the records from `from` up to `to`. */
export type ReadDecisions = (partition: number, from: number, to: number) => Promise<DecidedPart>
