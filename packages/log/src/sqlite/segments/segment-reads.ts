import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Offset, OffsetRange } from '../../event-log.ts'
import type { EncodedRecord } from './commit.ts'
import { hasTable } from './segment-tables.ts'
import type { StreamNumber } from './stream-number.ts'
import { selectRecords, streamsIn, streamTable } from './stream-table.ts'

export interface WantedRecords extends OffsetRange {
  readonly isWanted: (stream: StreamNumber) => boolean
  /** Of the offsets. */
  readonly order: 'ASC' | 'DESC'
  /** At least one record is read if there is one. */
  readonly maxBytes: number
  /** Called for a record that fails its checksum; it is passed over. */
  readonly onDamage?: (offset: Offset) => void
}

export interface SegmentPart {
  readonly records: readonly EncodedRecord[]
  readonly bytes: number
  /** Whether the segment has no more of the wanted records. */
  readonly isWhole: boolean
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

  read({ isWanted, order, from, to, maxBytes, onDamage }: WantedRecords): SegmentPart {
    this.#follow()
    const tables = this.#streams.filter(isWanted).map(streamTable)
    if (tables.length === 0) return NOTHING
    const found: EncodedRecord[] = []
    let bytes = 0
    let isWhole = true
    for (const row of this.#range(tables, order).iterate(from, to)) {
      const record = row as unknown as EncodedRecord & { readonly crc: number }
      if (crc32(record.bytes) !== record.crc) {
        onDamage?.(record.offset)
        continue
      }
      isWhole = found.length === 0 || bytes + record.bytes.length <= maxBytes
      if (!isWhole) break
      found.push({ offset: record.offset, bytes: record.bytes })
      bytes += record.bytes.length
    }
    return { records: this.#withDuplicates(found), bytes, isWhole }
  }

  #withDuplicates(records: readonly EncodedRecord[]): readonly EncodedRecord[] {
    if (this.#duplicates === undefined || records.length === 0) return records
    const ends = [records[0]!.offset, records.at(-1)!.offset]
    const rows = this.#duplicates.all(Math.min(...ends), Math.max(...ends))
    const known = new Map(rows.map(({ offset, indexes }) => [offset as Offset, indexes as Uint8Array]))
    return records.map((record) => {
      const duplicates = known.get(record.offset)
      return duplicates === undefined ? record : { ...record, duplicates }
    })
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

  #range(tables: readonly string[], order: 'ASC' | 'DESC'): StatementSync {
    const key = `${order} ${tables.join(' ')}`
    const known = this.#ranges.get(key)
    if (known !== undefined) return known
    const statement = this.database.prepare(selectRecords(tables, 'offset >= ?1 AND offset < ?2', { order }))
    this.#ranges.set(key, statement)
    return statement
  }
}

export const NOTHING: SegmentPart = { records: [], bytes: 0, isWhole: true }
