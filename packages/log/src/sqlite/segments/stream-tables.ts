import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { STREAMS } from '../../event-log.ts'
import { partitionOfStream, type StreamNumber, streamNumber, streamOfNumber } from './stream-number.ts'

/** `live`, `import` for backfills as in segments of earlier releases, and `live_7`, `import_7` in partition 7. */
export function streamTable(number: StreamNumber): string {
  const table = streamOfNumber(number) === 'live' ? 'live' : 'import'
  const partition = partitionOfStream(number)
  return partition === 0 ? table : `${table}_${partition}`
}

/** The streams that have a table in a segment. Both of partition 0 always do: a segment without them is damaged. */
export function streamsIn(database: DatabaseSync): StreamNumber[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const others = tables.flatMap(({ name }) => {
    const [, table, partition] = /^(live|import)_(\d+)$/.exec(String(name)) ?? []
    return table === undefined ? [] : [streamNumber(Number(partition), table === 'live' ? 'live' : 'backfill')]
  })
  return [...STREAMS.map((stream) => streamNumber(0, stream)), ...others]
}

/** The tables of a segment that hold records, one for each stream. */
export class StreamTables {
  readonly #database: DatabaseSync
  readonly #statements = new Map<StreamNumber, Partial<Record<'range' | 'one' | 'insert', StatementSync>>>()
  #numbers: Set<StreamNumber>

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#numbers = new Set(streamsIn(database))
  }

  get numbers(): Iterable<StreamNumber> {
    return this.#numbers
  }

  /** Rows from an offset up to another one; undefined if there is no such table. */
  range(number: StreamNumber): StatementSync | undefined {
    return this.#read(number, 'range', 'offset >= ? AND offset < ? ORDER BY offset')
  }

  /** The row of an offset; undefined if there is no such table. */
  one(number: StreamNumber): StatementSync | undefined {
    return this.#read(number, 'one', 'offset = ?')
  }

  /** Inserts offset, CRC-32 and bytes. Inside the transaction of the first record it creates the table. */
  insert(number: StreamNumber): StatementSync {
    const known = this.#statements.get(number)?.insert
    if (known !== undefined) return known
    const table = streamTable(number)
    this.#database.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT`,
    )
    this.#numbers.add(number)
    return this.#keep(number, 'insert', `INSERT INTO ${table} (offset, crc, bytes) VALUES (?, ?, ?)`)
  }

  /** The transaction was rolled back, perhaps with a new table. */
  rolledBack(): void {
    this.#statements.clear()
    this.#numbers = new Set(streamsIn(this.#database))
  }

  #read(number: StreamNumber, name: 'range' | 'one', condition: string): StatementSync | undefined {
    const known = this.#statements.get(number)?.[name]
    if (known !== undefined || !this.#numbers.has(number)) return known
    return this.#keep(number, name, `SELECT offset, crc, bytes FROM ${streamTable(number)} WHERE ${condition}`)
  }

  #keep(number: StreamNumber, name: 'range' | 'one' | 'insert', sql: string): StatementSync {
    const statement = this.#database.prepare(sql)
    this.#statements.set(number, { ...this.#statements.get(number), [name]: statement })
    return statement
  }
}
