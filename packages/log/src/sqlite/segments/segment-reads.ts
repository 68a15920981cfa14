import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Offset, OffsetRange } from '../../event-log.ts'
import { hasTable } from './segment-tables.ts'
import type { StreamNumber } from './stream-number.ts'
import { streamsIn, streamTable } from './stream-table.ts'

export interface StoredRow {
  readonly offset: Offset
  readonly crc: number
  readonly bytes: Uint8Array
}

/**
 * Reads the records of an open segment. Readers that follow the log take a few records at a time, so everything that does not change
 * is kept: the tables, until one is added, and the statements.
 */
export class SegmentReads {
  readonly database: DatabaseSync
  readonly #schemaVersion: StatementSync
  readonly #ranges = new Map<string, StatementSync>()
  #version: unknown
  #streams: readonly StreamNumber[] = []
  #duplicates: StatementSync | undefined

  constructor(database: DatabaseSync) {
    this.database = database
    this.#schemaVersion = database.prepare('PRAGMA schema_version')
  }

  /** The records of the wanted streams within a range, in the order of their offsets. */
  *records(isWanted: (stream: StreamNumber) => boolean, { from, to }: OffsetRange): Generator<StoredRow> {
    this.#follow()
    const wanted = this.#streams.filter(isWanted)
    if (wanted.length === 0) return
    for (const row of this.#range(wanted).iterate(from, to)) yield row as unknown as StoredRow
  }

  /** The duplicates of records that lie one after the other; only of records that have some. */
  duplicatesOf(
    records: readonly { readonly offset: Offset }[],
  ): ReadonlyMap<Offset, { readonly duplicates: Uint8Array }> {
    if (this.#duplicates === undefined || records.length === 0) return NO_DUPLICATES
    const rows = this.#duplicates.all(records[0]!.offset, records.at(-1)!.offset)
    return new Map(rows.map(({ offset, indexes }) => [Number(offset), { duplicates: indexes as Uint8Array }]))
  }

  /** The first record of a stream adds its table, the first duplicate adds theirs. */
  #follow(): void {
    const { schema_version: version } = this.#schemaVersion.get()!
    if (version === this.#version) return
    this.#streams = streamsIn(this.database)
    this.#duplicates = hasTable(this.database, 'duplicates')
      ? this.database.prepare('SELECT offset, indexes FROM duplicates WHERE offset BETWEEN ? AND ?')
      : undefined
    this.#version = version
  }

  #range(streams: readonly StreamNumber[]): StatementSync {
    const key = streams.join(' ')
    const known = this.#ranges.get(key)
    if (known !== undefined) return known
    const selects = streams
      .map(streamTable)
      .map((table) => `SELECT offset, crc, bytes FROM ${table} WHERE offset >= ?1 AND offset < ?2`)
    const statement = this.database.prepare(`${selects.join(' UNION ALL ')} ORDER BY offset`)
    this.#ranges.set(key, statement)
    return statement
  }
}

const NO_DUPLICATES = new Map<Offset, { readonly duplicates: Uint8Array }>()
