import type { DatabaseSync } from 'node:sqlite'
import type { RangeWrite, Recorded } from '../outcome-store.ts'
import type { StoredNames } from './stored-names.ts'

/** Outcomes of whole ranges of the log: events discarded or given up without being read. */
export class RangeTable {
  readonly #names: StoredNames
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames) {
    this.#names = names
    this.#statements = {
      put: db.prepare(
        `INSERT INTO ranges (destination, source, partition, from_offset, to_offset, outcome, reason, count, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      known: db.prepare(
        'SELECT 1 FROM ranges WHERE destination = ? AND partition = ? AND from_offset = ? AND outcome = ?',
      ),
      at: db.prepare(
        `SELECT outcome, reason FROM ranges WHERE destination = ? AND partition = ? AND from_offset <= ? AND to_offset > ?
         AND (source IS NULL OR source = ?) ORDER BY id LIMIT 1`,
      ),
    }
  }

  write({ destinationId, sourceId, partition, fromOffset, toOffset, outcome, reason, count, at }: RangeWrite): void {
    const destination = this.#names.number(destinationId)
    const source = sourceId === null ? null : this.#names.number(sourceId)
    this.#statements.put.run(destination, source, partition, fromOffset, toOffset, outcome, reason, count, at)
  }

  /** Unless it exists. */
  writeOnce(range: RangeWrite): void {
    const { destinationId, partition, fromOffset, outcome } = range
    const known = this.#statements.known.get(this.#names.number(destinationId), partition, fromOffset, outcome)
    if (known === undefined) this.write(range)
  }

  /** The first range that contains an event. */
  at(destination: number, sourceId: string, partition: number, offset: number): Recorded | undefined {
    const source = this.#names.find(sourceId) ?? -1
    const row = this.#statements.at.get(destination, partition, offset, offset, source)
    return row && { kind: 'range', outcome: row['outcome'] as RangeWrite['outcome'], reason: row['reason'] as string }
  }
}
