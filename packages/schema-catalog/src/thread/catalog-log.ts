import type { EventRecord } from '@millrace/protocol'

/** Events as they come in, and history that is sent in. */
export type CatalogStream = 'live' | 'backfill'

export interface CatalogRecord extends EventRecord {
  readonly offset: number
  /** Indexes of the events that are duplicates. */
  readonly duplicates?: ReadonlySet<number>
}

/** The log as the catalog's thread reads it. */
export interface CatalogLog {
  /**
   * Records of a stream from `from` on, up to `maxBytes` but at least one if there is one, and where to read on. All
   * partitions count their offsets together, and their records come in the order of the offsets.
   *
   * @param end what is committed at least.
   */
  read(
    stream: CatalogStream,
    from: number,
    end: number,
    maxBytes: number,
  ): { readonly records: readonly CatalogRecord[]; readonly next: number }

  /** Lets go of what it keeps open between reads: nothing may be read for a long time. */
  release(): void
}
