import { existsSync, renameSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import { decodeHashes, eventCount } from '@millrace/protocol/record'
import type { AttemptEntry } from '../../dedup/attempts.ts'
import { numberOfRule } from '../../dedup.ts'
import { type Offset, type OffsetRange, STREAMS, type Tally } from '../../event-log.ts'
import { addToTally } from '../../tally.ts'
import { checkpoint } from './checkpoint.ts'
import type { Commit, EncodedRecord } from './commit.ts'
import { DamagedSegmentError, guardDamage, refuseEmptied } from './damaged-segment.ts'
import { inodeOf, PAGE_BYTES, removeSegment, segmentPath } from './segment-files.ts'
import { SegmentKeys } from './segment-keys.ts'
import { createTables, prepareWrites, type Writes } from './segment-tables.ts'
import { type StreamNumber, streamNumber } from './stream-number.ts'
import { streamTable } from './stream-table.ts'
import { StreamTables } from './stream-tables.ts'

/** Maximum offsets of a segment. It bounds the range of a damaged segment whose end is unknown. */
export const SEGMENT_OFFSETS = 2 ** 24

/**
 * One file of the log, `<first offset>.db`: an SQLite database in WAL mode, never checkpointed between its first record and its close. So all
 * commits are in the WAL, whose frames SQLite verifies one by one: a truncation loses only the commits after it.
 *
 *   live, import   offset, CRC-32 of the bytes, encoded record (protocol/record.ts), its rule for duplicates or null (dedup.ts);
 *                  `import` is the stream of backfills. Those of partition 0; partition 7 has `live_7` and `import_7` from its first record on
 *   tally          per commit and stream: first and last offset, and [source id, events, bytes] as JSON
 *   probe          one row, written to test whether writes succeed
 *
 * and the tables of `SegmentKeys`.
 */
export class Segment {
  readonly first: Offset
  readonly path: string
  readonly #database: DatabaseSync
  readonly #streams: StreamTables
  #writes: Writes | undefined
  readonly #inode: bigint | undefined
  readonly #keys: SegmentKeys

  private constructor(path: string, first: Offset, database: DatabaseSync, isWritable: boolean) {
    this.path = path
    this.first = first
    this.#database = database
    this.#inode = inodeOf(path)
    this.#streams = new StreamTables(database)
    this.#keys = new SegmentKeys(path, database, () => this.#streams.numbers, isWritable && this.end() === first)
    if (isWritable) this.#writes = prepareWrites(database)
  }

  /** Creates a segment. A file of that name is always at least a blank database. */
  static begin(directory: string, first: Offset): Segment {
    const path = segmentPath(directory, first)
    if (!existsSync(path)) {
      const unfinished = `${path}.new`
      removeSegment(unfinished)
      const database = new DatabaseSync(unfinished)
      try {
        database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL`)
      } finally {
        database.close()
      }
      renameSync(unfinished, path)
    }
    return Segment.openForWriting(directory, first)
  }

  /** Opens the newest segment for appends, after SQLite has recovered it from a crash. */
  static openForWriting(directory: string, first: Offset): Segment {
    return Segment.#openWithWal(directory, first, true)
  }

  /** Opens a segment that is being closed. It takes no write lock: the checkpoint holds it until its end. */
  static openClosing(directory: string, first: Offset): Segment {
    return Segment.#openWithWal(directory, first, false)
  }

  static #openWithWal(directory: string, first: Offset, isWritable: boolean): Segment {
    const path = segmentPath(directory, first)
    refuseEmptied(path)
    return guardDamage(path, () =>
      withDatabase(new DatabaseSync(path, { timeout: 5_000 }), (database) => {
        database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0')
        if (isWritable) createTables(database)
        return new Segment(path, first, database, isWritable)
      }),
    )
  }

  /** Opens a read-only segment. */
  static openClosed(directory: string, first: Offset): Segment {
    const path = segmentPath(directory, first)
    const location = pathToFileURL(path)
    // The file is complete and read-only: SQLite needs no locks and no side files.
    location.search = '?immutable=1'
    return guardDamage(path, () =>
      withDatabase(
        new DatabaseSync(location, { readOnly: true }),
        (database) => new Segment(path, first, database, false),
      ),
    )
  }

  /** The streams that have a table. */
  get streams(): Iterable<StreamNumber> {
    return this.#streams.numbers
  }

  /** Writes one commit from `first` on and syncs it to disk. A failed commit leaves nothing visible. */
  append(first: Offset, { entries, tallies, decided }: Commit): void {
    this.#transaction(({ insertTally }) => {
      let offset = first
      for (const { stream, bytes, rule } of entries) {
        this.#streams.insert(stream).run(offset++, crc32(bytes), bytes, rule === undefined ? null : numberOfRule(rule))
      }
      for (const { stream, counts } of tallies) insertTally.run(stream, first, offset - 1, JSON.stringify(counts))
      if (decided !== undefined) this.#keys.write(first, offset, decided)
    })
    if (decided !== undefined) this.#keys.committed()
  }

  /** Entries of the dedup window, in commit order. @throws DamagedSegmentError */
  windowEntries(): Uint8Array[] {
    return this.#keys.windowEntries()
  }

  /** Keys remembered for repeats, in commit order. @throws DamagedSegmentError */
  attemptEntries(): AttemptEntry[] {
    return this.#keys.attemptEntries()
  }

  /** Writes what saves time when the keys are read again; without it they follow from the records. */
  writeKeys(): void {
    this.#transaction(() => this.#keys.writeRest(this.end()))
    this.#keys.committed()
  }

  /** Copies remembered keys from another segment. */
  keepAttempts(entries: readonly AttemptEntry[]): void {
    this.#transaction(() => this.#keys.keep(entries))
    this.#keys.committed()
  }

  /** Tests a commit without adding a record. */
  probe(): void {
    this.#writable().probe.run()
  }

  /** Rows of a stream inside `range`, up to `maxBytes` but at least one. @throws DamagedSegmentError */
  read(stream: StreamNumber, range: OffsetRange, maxBytes: number): EncodedRecord[] {
    return guardDamage(this.path, () => {
      const found: EncodedRecord[] = []
      let bytes = 0
      for (const row of this.#streams.range(stream)?.iterate(range.from, range.to) ?? []) {
        const record = this.#checked(row)
        bytes += record.bytes.length
        if (found.length > 0 && bytes > maxBytes) break
        found.push(record)
      }
      return found
    })
  }

  /** A record of any stream of a partition. @throws DamagedSegmentError */
  get(partition: number, offset: Offset): EncodedRecord | undefined {
    return guardDamage(this.path, () => {
      for (const stream of STREAMS) {
        const row = this.#streams.one(streamNumber(partition, stream))?.get(offset)
        if (row !== undefined) return this.#checked(row)
      }
      return undefined
    })
  }

  /** @throws DamagedSegmentError */
  tally(stream: StreamNumber, range: OffsetRange): Tally {
    return guardDamage(this.path, () => {
      const into: Tally = new Map()
      const commits = this.#database
        .prepare('SELECT first, last, counts FROM tally WHERE stream = ? AND last >= ? AND first < ? ORDER BY first')
        .all(stream, range.from, range.to) as { first: number; last: number; counts: string }[]
      for (const { first, last, counts } of commits) {
        if (first >= range.from && last < range.to) {
          for (const [sourceId, events, bytes] of JSON.parse(counts)) addToTally(into, sourceId, events, bytes)
        } else {
          this.#tallyRecords(stream, { from: Math.max(first, range.from), to: Math.min(last + 1, range.to) }, into)
        }
      }
      return into
    })
  }

  /** Reads every record. @throws DamagedSegmentError */
  inspect(): void {
    guardDamage(this.path, () => {
      for (const stream of this.#streams.numbers) {
        const rows = this.#streams.range(stream)?.iterate(this.first, this.first + SEGMENT_OFFSETS) ?? []
        for (const row of rows) this.#checked(row)
      }
    })
  }

  /** The first record of a partition. @throws DamagedSegmentError */
  firstRecord(partition: number): EncodedRecord | undefined {
    return guardDamage(this.path, () => {
      const offsets = STREAMS.flatMap((stream) => this.#bound('min', streamNumber(partition, stream)) ?? [])
      return offsets.length === 0 ? undefined : this.get(partition, Math.min(...offsets))
    })
  }

  /** One past the last offset; `first` if the segment is empty. @throws DamagedSegmentError */
  end(): Offset {
    return guardDamage(this.path, () => {
      const offsets = [...this.#streams.numbers].flatMap((stream) => this.#bound('max', stream) ?? [])
      return offsets.length === 0 ? this.first : Math.max(...offsets) + 1
    })
  }

  /** When the last record was accepted; undefined if the segment is empty. @throws DamagedSegmentError */
  newestAt(): number | undefined {
    return guardDamage(this.path, () => {
      const last = this.end() - 1
      for (const stream of this.#streams.numbers) {
        const row = this.#streams.one(stream)?.get(last)
        if (row !== undefined) return decodeHashes(this.#checked(row).bytes).acceptedAt
      }
      return undefined
    })
  }

  /** Whether the file at the segment's path is still the open one. */
  isInPlace(): boolean {
    return this.#inode !== undefined && inodeOf(this.path) === this.#inode
  }

  /** Moves the WAL into the database file. Do not write to a segment with records afterwards. */
  checkpoint(): void {
    checkpoint(this.#database)
  }

  close(): void {
    this.#database.close()
  }

  #bound(bound: 'min' | 'max', stream: StreamNumber): Offset | undefined {
    if (this.#streams.range(stream) === undefined) return undefined
    const row = this.#database.prepare(`SELECT ${bound}(offset) AS offset FROM ${streamTable(stream)}`).get()
    return (row?.['offset'] as Offset | null) ?? undefined
  }

  #transaction(work: (writes: Writes) => void): void {
    const writes = this.#writable()
    writes.begin.run()
    try {
      work(writes)
      writes.commit.run()
    } catch (error) {
      this.#keys.rolledBack()
      this.#streams.rolledBack()
      if (this.#database.isTransaction) writes.rollback.run()
      throw error
    }
    this.#streams.committed()
  }

  #writable(): Writes {
    if (this.#writes === undefined) throw new Error(`segment ${this.first} is closed`)
    return this.#writes
  }

  #checked(row: unknown): EncodedRecord {
    const { offset, crc, bytes } = row as { offset: number; crc: number; bytes: Uint8Array<ArrayBuffer> }
    if (!(bytes instanceof Uint8Array) || crc32(bytes) !== crc)
      throw new DamagedSegmentError(`record ${offset} fails its checksum`)
    const duplicates = this.#keys.duplicatesOf(offset)
    return duplicates === undefined ? { offset, bytes } : { offset, bytes, duplicates }
  }

  #tallyRecords(stream: StreamNumber, range: OffsetRange, into: Tally): void {
    for (const row of this.#streams.range(stream)?.iterate(range.from, range.to) ?? []) {
      const { bytes, duplicates } = this.#checked(row)
      const header = decodeHashes(bytes)
      const events = eventCount(header) - (duplicates?.length ?? 0) / 2
      addToTally(into, header.sourceId, events, bytes.length)
    }
  }
}

/** @returns what `make` made of the database, which is closed if that fails. */
function withDatabase<T>(database: DatabaseSync, make: (database: DatabaseSync) => T): T {
  try {
    return make(database)
  } catch (error) {
    database.close()
    throw error
  }
}
