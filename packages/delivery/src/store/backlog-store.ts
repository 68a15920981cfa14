/** A record that left the log before it was delivered everywhere; bytes and duplicates as the log has them. */
export interface KeptRecord {
  readonly offset: number
  readonly stream: number
  readonly sourceId: string
  /** Without duplicates. */
  readonly events: number
  readonly bytes: Uint8Array
  readonly duplicates: Uint8Array | null
}

/** What a destination holds on disk beside the log. */
export interface BacklogRow {
  readonly destinationId: string
  /** Open ones. */
  readonly letters: number
  readonly letterBytes: number
  /** Events of it that were given up by the system, ever. */
  readonly expired: number
}

/** What waits for delivery beside the log: copies of records that the log gave up, and how much destinations hold. */
export interface BacklogStore {
  byDestination(): Promise<BacklogRow[]>
  keepRecords(request: { partition: number; records: readonly KeptRecord[] }): Promise<void>
  /** In order of their offsets; empty behind the last. */
  readKept(request: { partition: number; stream: number; from: number; maxBytes: number }): Promise<KeptRecord[]>
  /** Those that are there. */
  getKept(request: { partition: number; offsets: readonly number[] }): Promise<KeptRecord[]>
  tallyKept(request: {
    partition: number
    stream: number
    from: number
    to: number
  }): Promise<[sourceId: string, { events: number; bytes: number }][]>
  keptRanges(): Promise<{ partition: number; from: number; to: number }[]>
  /** Nobody needs those before an offset any more. */
  dropKept(request: { partition: number; before: number }): Promise<void>
}
