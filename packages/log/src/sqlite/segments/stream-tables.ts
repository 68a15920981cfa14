import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { createStreamTable } from './segment-tables.ts'
import type { StreamNumber } from './stream-number.ts'
import { streamsIn, streamTable } from './stream-table.ts'

/** The tables of a segment that hold records, one for each stream. */
export class StreamTables {
  readonly #database: DatabaseSync
  readonly #statements = new Map<StreamNumber, Partial<Record<'range' | 'one' | 'insert', StatementSync>>>()
  readonly #numbers: Set<StreamNumber>
  /** Those whose table the current transaction added. */
  #added: StreamNumber[] = []

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

  /** Inserts offset, CRC-32, bytes and the number of the rule, or null. Inside the transaction of the first record it creates the table. */
  insert(number: StreamNumber): StatementSync {
    const known = this.#statements.get(number)?.insert
    if (known !== undefined) return known
    const table = streamTable(number)
    createStreamTable(this.#database, table)
    if (!this.#numbers.has(number)) this.#added.push(number)
    this.#numbers.add(number)
    return this.#keep(number, 'insert', `INSERT INTO ${table} (offset, crc, bytes, rule) VALUES (?, ?, ?, ?)`)
  }

  committed(): void {
    if (this.#added.length > 0) this.#added = []
  }

  /** The transaction is rolled back, perhaps with a new table. Reads nothing: the disk may be in trouble. */
  rolledBack(): void {
    this.#statements.clear()
    for (const number of this.#added) this.#numbers.delete(number)
    this.#added = []
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
