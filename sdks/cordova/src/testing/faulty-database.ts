import type { Change, EventDatabase, StoredRow, Written } from '../browser/event-database.ts'
import type { StorageKind } from '../core/bridge.ts'

/** A database whose writes fail as `kind` says: on a full disk always, once or twice; on a lost connection once. */
export class FaultyDatabase implements EventDatabase {
  readonly kind: StorageKind
  private readonly database: EventDatabase
  private readonly faults: { kind: string | null }

  constructor(database: EventDatabase, faults: { kind: string | null }) {
    this.database = database
    this.faults = faults
    this.kind = database.kind
  }

  async write(change: Change): Promise<Written> {
    const { kind } = this.faults
    if (kind?.startsWith('full')) {
      if (kind === 'full-once') this.faults.kind = null
      if (kind === 'full-twice') this.faults.kind = 'full-once'
      throw new DOMException('as the scenario says', 'QuotaExceededError')
    }
    if (kind === 'lost-once') {
      this.faults.kind = null
      throw new DOMException('as the scenario says', 'InvalidStateError')
    }
    return this.database.write(change)
  }

  values(): Promise<Record<string, string>> {
    return this.database.values()
  }

  count(): Promise<number> {
    return this.database.count()
  }

  visit(visitor: (row: StoredRow) => boolean, from: number): Promise<void> {
    return this.database.visit(visitor, from)
  }

  close(): void {
    this.database.close()
  }
}
