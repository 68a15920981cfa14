import type { Change, EventStore, StoredRow, Written } from '../browser/event-store.ts'
import type { StorageKind } from '../core/bridge.ts'

/** A store whose writes of rows fail as long as `kind` says so. */
export class FaultyStore implements EventStore {
  readonly kind: StorageKind
  private readonly store: EventStore
  private readonly faults: { kind: string | null }

  constructor(store: EventStore, faults: { kind: string | null }) {
    this.store = store
    this.faults = faults
    this.kind = store.kind
  }

  async write(change: Change): Promise<Written> {
    const { kind } = this.faults
    if (change.rows && change.rows.length > 0 && (kind === 'full' || kind === 'full-once')) {
      if (kind === 'full-once') this.faults.kind = null
      throw new DOMException('as the scenario says', 'QuotaExceededError')
    }
    return this.store.write(change)
  }

  values(): Promise<Record<string, string>> {
    return this.store.values()
  }

  count(): Promise<number> {
    return this.store.count()
  }

  visit(visitor: (row: StoredRow) => boolean): Promise<void> {
    return this.store.visit(visitor)
  }

  close(): void {
    this.store.close()
  }
}
