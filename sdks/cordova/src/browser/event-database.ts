import type { StateChanges, StorageKind } from '../core/bridge.ts'

/** Where rows and values are kept. An error it rejects with is judged by event-store.ts. */
export interface EventDatabase {
  readonly kind: StorageKind
  /** One transaction: all of the change, or nothing. */
  write(change: Change): Promise<Written>
  values(): Promise<Record<string, string>>
  count(): Promise<number>
  /** Oldest first, until the visitor answers false. @param from the least id. */
  visit(visitor: (row: StoredRow) => boolean, from: number): Promise<void>
  close(): void
}

export interface NewRow {
  readonly writeKey: string
  /** UTF-8 bytes of the body. */
  readonly size: number
  readonly body: string
}

export interface StoredRow extends NewRow {
  readonly id: number
}

/** Values that count deleted rows; each is a decimal text under its name. */
export type Counter = 'trimmed' | 'refused' | 'purged'

/** Applied in this order. */
export interface Change {
  readonly rows?: readonly NewRow[]
  readonly values?: StateChanges | undefined
  readonly remove?: readonly number[] | 'all'
  readonly removeOldest?: number
  /** Of more rows than this the oldest are removed. */
  readonly keepAtMost?: number
  /** The rows removed are added to it. */
  readonly countAs?: Counter | undefined
}

export interface Written {
  /** Of the new rows, in their order. */
  readonly ids: readonly number[]
  readonly left: number
  readonly removed: number
}
