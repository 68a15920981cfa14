import { existsSync, renameSync, statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import { decodeRecord, eventCount } from '@millrace/protocol'
import { type Offset, type OffsetRange, STREAMS, type Stream, type Tally } from '../../event-log.ts'
import { duplicateBytes } from '../../frames.ts'
import { addToTally } from '../../tally.ts'
import { ATTEMPT_KINDS, type AttemptEntry } from '../dedup/attempts.ts'
import type { DecidedCommit } from '../dedup/commit-dedup.ts'
import { hasWal, inodeOf, PAGE_BYTES, removeSegment, segmentPath } from './segment-files.ts'

/** Maximum offsets of a segment. It bounds the range of a damaged segment whose end is unknown. */
export const SEGMENT_OFFSETS = 2 ** 24

export interface EncodedRecord {
  readonly offset: Offset
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Indexes of its duplicates, as u16 values. */
  readonly duplicates?: Uint8Array
}

/** One commit: records of both streams, in the order of their offsets. */
export interface Commit {
  readonly entries: readonly { readonly stream: Stream; readonly bytes: Uint8Array }[]
  /** Per stream with entries: source id, events, bytes. */
  readonly tallies: readonly { readonly stream: Stream; readonly counts: readonly [string, number, number][] }[]
  /** Deduplication result; absent without a rule. */
  readonly decided?: DecidedCommit
}

/**
 * One file of the log, `<first offset>.db`: an SQLite database in WAL mode, never checkpointed while it is written. So all
 * commits are in the WAL, whose frames SQLite verifies one by one: a truncation loses only the commits after it.
 *
 *   live, import   offset, CRC-32 of the bytes, encoded record (protocol/record.ts); `import` is the stream of backfills
 *   tally          per commit and stream: first and last offset, and [source id, events, bytes] as JSON
 *   probe          one row, written to test whether writes succeed
 *
 * Only if a source has a dedup window, or keys are remembered for repeats:
 *
 *   duplicates     offset of a record, indexes of its duplicates as u16, little-endian
 *   dedup          first offset of a commit, window entries of its other events (dedup-window.ts)
 *   attempts       first offset of a commit, kind, time, 8 bytes per remembered event (attempts.ts)
 */
export class Segment {
  readonly first: Offset
  readonly path: string
  readonly #database: DatabaseSync
  readonly #reads: Record<Stream, StatementSync>
  readonly #gets: Record<Stream, StatementSync>
  #writes: Writes | undefined
  readonly #inode: bigint | undefined
  /** Whether it has a table of duplicates. */
  #hasDedup: boolean
  /** Prepared statements, created with their tables on first use. */
  #dedupWrites: DedupWrites | undefined

  private constructor(path: string, first: Offset, database: DatabaseSync, isWritable: boolean) {
    this.path = path
    this.first = first
    this.#database = database
    this.#inode = inodeOf(path)
    this.#hasDedup = hasTable(database, 'duplicates')
    this.#reads = perStream((table) =>
      database.prepare(`SELECT offset, crc, bytes FROM ${table} WHERE offset >= ? AND offset < ? ORDER BY offset`),
    )
    this.#gets = perStream((table) => database.prepare(`SELECT offset, crc, bytes FROM ${table} WHERE offset = ?`))
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
    const path = segmentPath(directory, first)
    refuseEmptied(path)
    return guardDamage(path, () => {
      const database = new DatabaseSync(path, { timeout: 5_000 })
      try {
        database.exec(`
          PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
          BEGIN IMMEDIATE;
          CREATE TABLE IF NOT EXISTS live (offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
          CREATE TABLE IF NOT EXISTS import (offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
          CREATE TABLE IF NOT EXISTS tally (
            stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, counts TEXT NOT NULL,
            PRIMARY KEY (stream, first)
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, written INTEGER NOT NULL) STRICT;
          COMMIT`)
        return new Segment(path, first, database, true)
      } catch (error) {
        database.close()
        throw error
      }
    })
  }

  /** Opens a read-only segment. */
  static openClosed(directory: string, first: Offset): Segment {
    const path = segmentPath(directory, first)
    const location = pathToFileURL(path)
    // The file is complete and read-only: SQLite needs no locks and no side files.
    location.search = '?immutable=1'
    return guardDamage(path, () => new Segment(path, first, new DatabaseSync(location, { readOnly: true }), false))
  }

  /** Writes one commit from `first` on and syncs it to disk. A failed commit leaves nothing visible. */
  append(first: Offset, commit: Commit): void {
    const { begin, insert, insertTally, commit: commitNow, rollback } = this.#writable()
    begin.run()
    try {
      let offset = first
      for (const { stream, bytes } of commit.entries) insert[stream].run(offset++, crc32(bytes), bytes)
      for (const { stream, counts } of commit.tallies) {
        insertTally.run(STREAMS.indexOf(stream), first, offset - 1, JSON.stringify(counts))
      }
      if (commit.decided !== undefined) this.#writeDecided(first, commit.decided)
      commitNow.run()
      this.#hasDedup ||= commit.decided !== undefined
    } catch (error) {
      this.#dedupWrites = undefined
      if (this.#database.isTransaction) rollback.run()
      throw error
    }
  }

  /** Entries of the dedup window, in commit order. @throws DamagedSegmentError */
  dedupEntries(): Uint8Array[] {
    if (!this.#hasDedup) return []
    return guardDamage(this.path, () => {
      const rows = this.#database.prepare('SELECT entries FROM dedup ORDER BY first').all()
      return rows.map(({ entries }) => entries as Uint8Array)
    })
  }

  /** Keys remembered for repeats, in commit order. @throws DamagedSegmentError */
  attemptEntries(): AttemptEntry[] {
    if (!hasTable(this.#database, 'attempts')) return []
    return guardDamage(this.path, () =>
      this.#database
        .prepare('SELECT first, kind, accepted_at, keys FROM attempts ORDER BY first')
        .all()
        .map(({ first, kind, accepted_at: acceptedAt, keys }) => ({
          first: first as number,
          kind: ATTEMPT_KINDS[kind as number]!,
          acceptedAt: acceptedAt as number,
          keys: keys as Uint8Array,
        })),
    )
  }

  /** Copies remembered keys from another segment. */
  keepAttempts(entries: readonly AttemptEntry[]): void {
    const { begin, commit, rollback } = this.#writable()
    begin.run()
    try {
      this.#insertAttempts(entries)
      commit.run()
      this.#hasDedup = true
    } catch (error) {
      this.#dedupWrites = undefined
      if (this.#database.isTransaction) rollback.run()
      throw error
    }
  }

  /** Tests a commit without adding a record. */
  probe(): void {
    this.#writable().probe.run()
  }

  /** Rows of a stream inside `range`, up to `maxBytes` but at least one. @throws DamagedSegmentError */
  read(stream: Stream, range: OffsetRange, maxBytes: number): EncodedRecord[] {
    return guardDamage(this.path, () => {
      const found: EncodedRecord[] = []
      let bytes = 0
      for (const row of this.#reads[stream].iterate(range.from, range.to)) {
        const record = this.#checked(row)
        bytes += record.bytes.length
        if (found.length > 0 && bytes > maxBytes) break
        found.push(record)
      }
      return found
    })
  }

  /** @throws DamagedSegmentError */
  get(offset: Offset): EncodedRecord | undefined {
    return guardDamage(this.path, () => {
      const row = this.#gets.live.get(offset) ?? this.#gets.backfill.get(offset)
      return row && this.#checked(row)
    })
  }

  /** @throws DamagedSegmentError */
  tally(stream: Stream, range: OffsetRange, into: Tally): void {
    guardDamage(this.path, () => {
      const commits = this.#database
        .prepare('SELECT first, last, counts FROM tally WHERE stream = ? AND last >= ? AND first < ? ORDER BY first')
        .all(STREAMS.indexOf(stream), range.from, range.to) as { first: number; last: number; counts: string }[]
      for (const { first, last, counts } of commits) {
        if (first >= range.from && last < range.to) {
          for (const [sourceId, events, bytes] of JSON.parse(counts)) addToTally(into, sourceId, events, bytes)
        } else {
          this.#tallyRecords(stream, { from: Math.max(first, range.from), to: Math.min(last + 1, range.to) }, into)
        }
      }
    })
  }

  /** The first record of either stream. @throws DamagedSegmentError */
  firstRecord(): EncodedRecord | undefined {
    return guardDamage(this.path, () => {
      const row = this.#database
        .prepare(
          'SELECT min(offset) AS offset FROM (SELECT min(offset) AS offset FROM live UNION ALL SELECT min(offset) FROM import)',
        )
        .get() as { offset: number | null }
      return row.offset === null ? undefined : this.get(row.offset)
    })
  }

  /** One past the last offset of either stream; `first` if the segment is empty. @throws DamagedSegmentError */
  end(): Offset {
    return guardDamage(this.path, () => {
      const row = this.#database
        .prepare(
          'SELECT max(offset) AS last FROM (SELECT max(offset) AS offset FROM live UNION ALL SELECT max(offset) FROM import)',
        )
        .get() as { last: number | null }
      return row.last === null ? this.first : row.last + 1
    })
  }

  /** Whether the file at the segment's path is still the open one. */
  isInPlace(): boolean {
    return this.#inode !== undefined && inodeOf(this.path) === this.#inode
  }

  /** Moves the WAL into the database file. Do not write to the segment afterwards. */
  checkpoint(): void {
    checkpoint(this.#database)
  }

  close(): void {
    this.#database.close()
  }

  #writable(): Writes {
    if (this.#writes === undefined) throw new Error(`segment ${this.first} is closed`)
    return this.#writes
  }

  #checked(row: unknown): EncodedRecord {
    const { offset, crc, bytes } = row as { offset: number; crc: number; bytes: Uint8Array<ArrayBuffer> }
    if (!(bytes instanceof Uint8Array) || crc32(bytes) !== crc)
      throw new DamagedSegmentError(`record ${offset} fails its checksum`)
    const duplicates = this.#hasDedup ? this.#duplicatesOf(offset) : undefined
    return duplicates === undefined ? { offset, bytes } : { offset, bytes, duplicates }
  }

  #duplicatesOf(offset: Offset): Uint8Array | undefined {
    const row = this.#database.prepare('SELECT indexes FROM duplicates WHERE offset = ?').get(offset)
    return row?.['indexes'] as Uint8Array | undefined
  }

  #insertAttempts(entries: readonly AttemptEntry[]): void {
    this.#dedupWrites ??= prepareDedupWrites(this.#database)
    for (const { first, kind, acceptedAt, keys } of entries) {
      this.#dedupWrites.attempts.run(first, ATTEMPT_KINDS.indexOf(kind), acceptedAt, keys)
    }
  }

  #writeDecided(first: Offset, { duplicates, entries, attempts }: DecidedCommit): void {
    this.#insertAttempts(attempts)
    const writes = this.#dedupWrites!
    for (const [place, indexes] of duplicates) writes.duplicates.run(first + place, duplicateBytes(indexes))
    if (entries.length > 0) writes.window.run(first, entries)
  }

  #tallyRecords(stream: Stream, range: OffsetRange, into: Tally): void {
    for (const row of this.#reads[stream].iterate(range.from, range.to)) {
      const { bytes, duplicates } = this.#checked(row)
      const { header } = decodeRecord(bytes)
      const events = eventCount(header) - (duplicates?.length ?? 0) / 2
      addToTally(into, header.sourceId, events, bytes.length)
    }
  }
}

/** A segment file is not a database, is truncated, or has a record that fails its checksum. */
export class DamagedSegmentError extends Error {
  override name = 'DamagedSegmentError'
  readonly code = 'SEGMENT_DAMAGED'
}

/** Table names; `import` for backfills, as in segments of earlier releases. */
export const STREAM_TABLES: Readonly<Record<Stream, string>> = { live: 'live', backfill: 'import' }

function perStream<T>(make: (table: string) => T): Record<Stream, T> {
  return { live: make(STREAM_TABLES.live), backfill: make(STREAM_TABLES.backfill) }
}

const DEDUP_TABLES = `
  CREATE TABLE IF NOT EXISTS duplicates (offset INTEGER PRIMARY KEY, indexes BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS dedup (first INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS attempts (
    first INTEGER NOT NULL, kind INTEGER NOT NULL, accepted_at INTEGER NOT NULL, keys BLOB NOT NULL
  ) STRICT`

export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

/** Checkpoints a segment on a separate connection, while another one may still read it. */
export function checkpointFile(path: string): void {
  refuseEmptied(path)
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    database.exec('PRAGMA synchronous = FULL')
    checkpoint(database)
  } finally {
    database.close()
  }
}

function checkpoint(database: DatabaseSync): void {
  const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
  if (result.busy !== 0) throw new Error('segment is busy and cannot be checkpointed')
}

interface Writes {
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly rollback: StatementSync
  readonly insert: Record<Stream, StatementSync>
  readonly insertTally: StatementSync
  readonly probe: StatementSync
}

function prepareWrites(database: DatabaseSync): Writes {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    insert: perStream((table) => database.prepare(`INSERT INTO ${table} (offset, crc, bytes) VALUES (?, ?, ?)`)),
    insertTally: database.prepare('INSERT INTO tally (stream, first, last, counts) VALUES (?, ?, ?, ?)'),
    probe: database.prepare('INSERT INTO probe VALUES (1, 1) ON CONFLICT DO UPDATE SET written = written + 1'),
  }
}

interface DedupWrites {
  readonly duplicates: StatementSync
  readonly window: StatementSync
  readonly attempts: StatementSync
}

function prepareDedupWrites(database: DatabaseSync): DedupWrites {
  database.exec(DEDUP_TABLES)
  return {
    duplicates: database.prepare('INSERT INTO duplicates (offset, indexes) VALUES (?, ?)'),
    window: database.prepare('INSERT INTO dedup (first, entries) VALUES (?, ?)'),
    attempts: database.prepare('INSERT INTO attempts (first, kind, accepted_at, keys) VALUES (?, ?, ?, ?)'),
  }
}

// SQLite deletes the WAL of an empty database; refuse to open it, so that the WAL can still be inspected.
function refuseEmptied(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0 && hasWal(path)) {
    throw new DamagedSegmentError(`${path} is empty beside a WAL`)
  }
}

// SQLite's error codes for damaged files; SQLITE_ERROR (1) if one of our tables is missing.
const DAMAGE_CODES = new Set([1, 11, 26])
const SQLITE_IOERR_SHORT_READ = 522

/** Runs `work`. @throws DamagedSegmentError instead of SQLite's errors for damaged files. */
export function guardDamage<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isDamage(error as Error)) throw error
    throw new DamagedSegmentError(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

function isDamage(error: Error & { errcode?: number; code?: string }): boolean {
  if (error.errcode !== undefined)
    return DAMAGE_CODES.has(error.errcode & 0xff) || error.errcode === SQLITE_IOERR_SHORT_READ
  // Values that we never write.
  return error.code === 'ERR_OUT_OF_RANGE' || error instanceof SyntaxError
}
