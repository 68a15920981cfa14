/** A record that left the log before every destination had it; bytes and duplicates are those of the log. */
export interface KeptRecord {
  readonly offset: number
  readonly stream: number
  readonly sourceId: string
  /** Excludes duplicates. */
  readonly events: number
  readonly bytes: Uint8Array
  readonly duplicates: Uint8Array | null
}

/** Events and bytes that a destination holds on disk outside the log. */
export interface BacklogRow {
  readonly destinationId: string
  /** Number of open dead letters. */
  readonly letters: number
  readonly letterBytes: number
  /** Number of its events that the system ever gave up. */
  readonly expired: number
}

/**
 * Events that wait for delivery outside the log (copies of records that the log gave up), and the bytes that each
 * destination holds.
 */
export interface BacklogStore {
  byDestination(): Promise<BacklogRow[]>
  keepRecords(request: { partition: number; records: readonly KeptRecord[] }): Promise<void>
  /** Ordered by offset; empty after the last record. */
  readKept(request: { partition: number; stream: number; from: number; maxBytes: number }): Promise<KeptRecord[]>
  /** Returns only the records that are present. */
  getKept(request: { partition: number; offsets: readonly number[] }): Promise<KeptRecord[]>
  tallyKept(request: {
    partition: number
    stream: number
    from: number
    to: number
  }): Promise<[sourceId: string, { events: number; bytes: number }][]>
  keptRanges(): Promise<{ partition: number; from: number; to: number }[]>
  /** Deletes the records before an offset: no destination needs them. */
  dropKept(request: { partition: number; before: number }): Promise<void>
}
