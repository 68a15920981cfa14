/** Name of the reader that decides which events are duplicates: what is before its position is decided. */
export const DUPLICATES_READER = 'duplicates'

/** Keys of one kind as the log's `ShardKeys` gives and restores them. */
export interface KeyPart {
  readonly kind: string
  /** Acceptance time of the last one, ms since 1970. */
  readonly lastAt: number
  readonly entries: Uint8Array
}

/** What the owner of a shard has decided since its last write. */
export interface ShardDecisions {
  readonly shard: number
  /** By partition: all records before the offset are decided. */
  readonly positions: readonly (readonly [partition: number, offset: number])[]
  readonly duplicates: readonly DuplicateWrite[]
  readonly keys: readonly KeyPart[]
}

export interface DuplicateWrite {
  readonly partition: number
  readonly offset: number
  /** Of the record's duplicates, as u16. */
  readonly indexes: Uint8Array
}

/**
 * Which events are duplicates. The owner of a shard decides in the order of the log, and its decisions are stored before any
 * reader passes the record.
 *
 * @see contracts/cluster.md §3 [K17], decision 0111
 */
export interface DuplicateStore extends StoredDuplicates {
  /** Writes decisions of several shards in one transaction, or none of them. @throws FencedError */
  write(decisions: readonly ShardDecisions[]): Promise<void>
  /** Keys of a shard that its owners have written, newest first, in parts. @param since acceptance time of the last key of a part. */
  keys(request: { shard: number; since: number }): AsyncIterable<readonly KeyPart[]>
  /** The newest records with duplicates, in the order of offsets. */
  newest(request: { partition: number; limit: number }): Promise<(readonly [offset: number, indexes: Uint8Array])[]>
}

export interface DecidedRange {
  /** All records before it are decided; at most the end that was asked for, and less if the owner is behind. */
  readonly to: number
  /** Indexes of duplicate events, by offset; only records that have some. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

/** What everybody may read of it. */
export interface StoredDuplicates {
  /** Indexes of duplicates as u16, by offset; only records that have some. */
  of(partition: number, offsets: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>
  /** What is decided of a range, for a reader that counts each event once. */
  decisions(partition: number, from: number, to: number): Promise<DecidedRange>
  /** By partition, where the undecided records begin; a partition without an entry has no decided record. */
  decidedTo(): Promise<ReadonlyMap<number, number>>
}
