import type { DatabaseSync } from 'node:sqlite'
import type { KeptRecord } from '../backlog-store.ts'
import type { StoredNames } from './stored-names.ts'

/**
 * Records that some destination still needs although the log must delete them: copied here first.
 *
 * @see contracts/ingest.md §9 [D145]
 */
export class KeptRecords {
  readonly #names: StoredNames
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames) {
    this.#names = names
    this.#statements = {
      keep: db.prepare(
        `INSERT OR IGNORE INTO kept_records (partition, offset, stream, source, events, bytes, duplicates)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      read: db.prepare('SELECT * FROM kept_records WHERE partition = ? AND stream = ? AND offset >= ? ORDER BY offset'),
      get: db.prepare('SELECT * FROM kept_records WHERE partition = ? AND offset = ?'),
      tally: db.prepare(
        `SELECT source, sum(events) AS events, sum(length(bytes)) AS bytes FROM kept_records
         WHERE partition = ? AND stream = ? AND offset >= ? AND offset < ? GROUP BY source`,
      ),
      range: db.prepare(
        'SELECT partition, min(offset) AS first, max(offset) AS last FROM kept_records GROUP BY partition',
      ),
      drop: db.prepare('DELETE FROM kept_records WHERE partition = ? AND offset < ?'),
    }
  }

  keep(partition: number, records: readonly KeptRecord[]): void {
    for (const { offset, stream, sourceId, events, bytes, duplicates } of records) {
      this.#statements.keep.run(partition, offset, stream, this.#names.number(sourceId), events, bytes, duplicates)
    }
  }

  /** At least one record if there is one. */
  read(partition: number, stream: number, from: number, maxBytes: number): KeptRecord[] {
    const found: KeptRecord[] = []
    let left = maxBytes
    for (const row of this.#statements.read.iterate(partition, stream, from)) {
      const record = this.#record(row as unknown as Row)
      if (found.length > 0 && record.bytes.length > left) break
      found.push(record)
      left -= record.bytes.length
    }
    return found
  }

  get(partition: number, offset: number): KeptRecord | undefined {
    const row = this.#statements.get.get(partition, offset) as Row | undefined
    return row && this.#record(row)
  }

  tally(partition: number, stream: number, from: number, to: number): [string, { events: number; bytes: number }][] {
    const rows = this.#statements.tally.all(partition, stream, from, to)
    return (rows as { source: number; events: number; bytes: number }[]).map(({ source, events, bytes }) => {
      return [this.#names.text(source), { events, bytes }]
    })
  }

  /** By non-empty partition: the first offset, and the offset after the last. */
  ranges(): { partition: number; from: number; to: number }[] {
    const rows = this.#statements.range.all() as { partition: number; first: number; last: number }[]
    return rows.map(({ partition, first, last }) => ({ partition, from: first, to: last + 1 }))
  }

  drop(partition: number, before: number): void {
    this.#statements.drop.run(partition, before)
  }

  #record({ offset, stream, source, events, bytes, duplicates }: Row): KeptRecord {
    return { offset, stream, sourceId: this.#names.text(source), events, bytes, duplicates }
  }
}

interface Row {
  offset: number
  stream: number
  source: number
  events: number
  bytes: Uint8Array
  duplicates: Uint8Array | null
}
