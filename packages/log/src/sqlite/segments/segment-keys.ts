import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { decodeHashes } from '@millrace/protocol/record'
import { ATTEMPT_KINDS, type AttemptEntry, kindOf } from '../../dedup/attempts.ts'
import type { DecidedCommit } from '../../dedup/decided-commit.ts'
import { KeyBytes } from '../../dedup/key-bytes.ts'
import { forEachDedupKey, ruleOfNumber } from '../../dedup.ts'
import type { Offset } from '../../event-log.ts'
import { duplicateBytes, duplicateIndexes } from '../../frames.ts'
import { DamagedSegmentError, guardDamage } from './damaged-segment.ts'
import { hasRules, hasTable } from './segment-tables.ts'
import type { StreamNumber } from './stream-number.ts'
import { selectRecords, streamTable } from './stream-table.ts'

/** Keys of commits are written together: a page for each commit would cost up to a tenth of its bytes. */
const MAX_UNWRITTEN_BYTES = 256 * 1024
const MAX_UNWRITTEN_COMMITS = 1_000

const DUPLICATES = 'CREATE TABLE IF NOT EXISTS duplicates (offset INTEGER PRIMARY KEY, indexes BLOB NOT NULL) STRICT'
const KEYS = `
  CREATE TABLE IF NOT EXISTS dedup (first INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS attempts (
    first INTEGER NOT NULL, kind INTEGER NOT NULL, accepted_at INTEGER NOT NULL, keys BLOB NOT NULL
  ) STRICT`
const KEYS_WRITTEN =
  'CREATE TABLE IF NOT EXISTS keys_written (id INTEGER PRIMARY KEY CHECK (id = 1), until INTEGER NOT NULL) STRICT'

/** The keys of a commit. */
interface CommitKeys extends Pick<DecidedCommit, 'entries' | 'attempts'> {
  readonly first: Offset
  /** One past its last record. */
  readonly end: Offset
}

/**
 * The deduplication tables of a segment. They are created with the first commit that needs them, `keys_written` at the latest when
 * the segment is closed:
 *
 *   duplicates     offset of a record, indexes of its duplicates as u16, little-endian
 *   dedup          first offset of some commits, window entries of their other events (dedup-window.ts)
 *   attempts       first offset of a commit, kind, time, 8 bytes per remembered event (attempts.ts)
 *   keys_written   the offset up to which `dedup` and `attempts` have the keys
 *
 * The keys of later records follow from the records, their rules and their duplicates. So `dedup` and `attempts` only save the time
 * to read the records of a whole segment, and need not be written with each commit. A closed segment has no later records, except
 * one of an earlier release or one whose last keys could not be written.
 */
export class SegmentKeys {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #streams: () => Iterable<StreamNumber>
  #hasDuplicates: boolean
  /** Inserts into `duplicates`, once it exists. */
  #insertDuplicates: StatementSync | undefined
  /** Keys of the records from `keys_written` on; undefined until they are first needed. */
  #unwritten: CommitKeys[] | undefined
  #unwrittenBytes = 0
  /** Of the commit that is being written. */
  #adding: { readonly keys: CommitKeys | undefined; readonly isWritten: boolean } | undefined

  /** @param isEmpty whether the segment is known to have no record. */
  constructor(path: string, database: DatabaseSync, streams: () => Iterable<StreamNumber>, isEmpty: boolean) {
    this.#path = path
    this.#database = database
    this.#streams = streams
    this.#hasDuplicates = hasTable(database, 'duplicates')
    if (isEmpty) this.#unwritten = []
  }

  /** Writes the duplicates of a commit inside its transaction, and from time to time the keys. @param end one past its last record. */
  write(first: Offset, end: Offset, { duplicates, entries, attempts }: DecidedCommit): void {
    for (const [place, indexes] of duplicates) {
      this.#insertDuplicates ??= this.#prepareDuplicates()
      this.#insertDuplicates.run(first + place, duplicateBytes(indexes))
    }
    const keys = { first, end, entries, attempts }
    const before = this.#unwrittenBefore(first)
    const isWritten =
      this.#unwrittenBytes + bytesOf(keys) >= MAX_UNWRITTEN_BYTES || before.length >= MAX_UNWRITTEN_COMMITS
    this.#adding = { keys, isWritten }
    if (isWritten) this.#writeKeys([...before, keys], end)
  }

  /** Writes the keys that are left, inside a transaction, before the segment is closed. @param end one past its last record. */
  writeRest(end: Offset): void {
    this.#adding = { keys: undefined, isWritten: true }
    this.#writeKeys(this.#unwrittenBefore(end), end)
  }

  /** Writes keys that were remembered by another segment, inside a transaction. */
  keep(entries: readonly AttemptEntry[]): void {
    this.#database.exec(KEYS)
    const insert = this.#database.prepare('INSERT INTO attempts (first, kind, accepted_at, keys) VALUES (?, ?, ?, ?)')
    for (const { first, kind, acceptedAt, keys } of entries) {
      insert.run(first, ATTEMPT_KINDS.indexOf(kind), acceptedAt, keys)
    }
  }

  /** The transaction was committed. */
  committed(): void {
    this.#hasDuplicates ||= this.#insertDuplicates !== undefined
    const { keys, isWritten } = this.#adding ?? { keys: undefined, isWritten: false }
    this.#adding = undefined
    if (isWritten) {
      this.#unwritten = []
      this.#unwrittenBytes = 0
    } else if (keys !== undefined) {
      this.#unwritten!.push(keys)
      this.#unwrittenBytes += bytesOf(keys)
    }
  }

  /** The transaction was rolled back, perhaps with a new table. */
  rolledBack(): void {
    this.#insertDuplicates = undefined
    this.#adding = undefined
  }

  /** Entries of the dedup window, in commit order. @throws DamagedSegmentError */
  windowEntries(): Uint8Array[] {
    return guardDamage(this.#path, () => {
      const written = hasTable(this.#database, 'dedup')
        ? this.#database.prepare('SELECT entries FROM dedup ORDER BY first').all()
        : []
      return [...written, ...this.#unwrittenBefore(Number.MAX_SAFE_INTEGER)]
        .map(({ entries }) => entries as Uint8Array)
        .filter(({ length }) => length > 0)
    })
  }

  /** Keys remembered for repeats, in commit order. @throws DamagedSegmentError */
  attemptEntries(): AttemptEntry[] {
    return guardDamage(this.#path, () => {
      const written = hasTable(this.#database, 'attempts')
        ? this.#database.prepare('SELECT first, kind, accepted_at, keys FROM attempts ORDER BY first').all()
        : []
      const entries = written.map(({ first, kind, accepted_at: acceptedAt, keys }) => ({
        first: first as number,
        kind: ATTEMPT_KINDS[kind as number]!,
        acceptedAt: acceptedAt as number,
        keys: keys as Uint8Array,
      }))
      return [...entries, ...this.#unwrittenBefore(Number.MAX_SAFE_INTEGER).flatMap(({ attempts }) => attempts)]
    })
  }

  /** Indexes of the duplicates of a record, as u16; undefined without any. */
  duplicatesOf(offset: Offset): Uint8Array | undefined {
    if (!this.#hasDuplicates) return undefined
    const row = this.#database.prepare('SELECT indexes FROM duplicates WHERE offset = ?').get(offset)
    return row?.['indexes'] as Uint8Array | undefined
  }

  #prepareDuplicates(): StatementSync {
    this.#database.exec(DUPLICATES)
    return this.#database.prepare('INSERT INTO duplicates (offset, indexes) VALUES (?, ?)')
  }

  #writeKeys(commits: readonly CommitKeys[], end: Offset): void {
    if (commits.length > 0) this.keep(commits.flatMap(({ attempts }) => attempts))
    const entries = Buffer.concat(commits.map((commit) => commit.entries))
    if (entries.length > 0) {
      this.#database.prepare('INSERT INTO dedup (first, entries) VALUES (?, ?)').run(commits[0]!.first, entries)
    }
    this.#database.exec(KEYS_WRITTEN)
    this.#database
      .prepare('INSERT INTO keys_written VALUES (1, ?) ON CONFLICT DO UPDATE SET until = excluded.until')
      .run(end)
  }

  /** @param offset of the commit that is being written; above every offset if there is none. */
  #unwrittenBefore(offset: Offset): readonly CommitKeys[] {
    if (this.#unwritten === undefined) {
      this.#unwritten = [...this.#keysOfRecords(offset)]
      this.#unwrittenBytes = this.#unwritten.reduce((sum, keys) => sum + bytesOf(keys), 0)
    }
    return this.#unwritten
  }

  /** The keys of the records from `keys_written` on, record by record, in the order of their offsets. */
  *#keysOfRecords(before: Offset): Generator<CommitKeys> {
    const tables = [...this.#streams()].map(streamTable).filter((table) => hasRules(this.#database, table))
    if (tables.length === 0) return
    const condition = 'offset >= ?1 AND offset < ?2 AND rule IS NOT NULL'
    const rows = this.#database.prepare(selectRecords(tables, condition, { more: ', rule' }))
    for (const row of rows.iterate(this.#writtenUntil(), before)) yield this.#keysOf(row as unknown as RuledRow)
  }

  #writtenUntil(): Offset {
    if (!hasTable(this.#database, 'keys_written')) return 0
    return Number(this.#database.prepare('SELECT until FROM keys_written').get()?.['until'] ?? 0)
  }

  #keysOf({ offset, crc, bytes, rule: number }: RuledRow): CommitKeys {
    if (crc32(bytes) !== crc) throw new DamagedSegmentError(`record ${offset} fails its checksum`)
    const hashes = decodeHashes(bytes)
    const { acceptedAt } = hashes
    const rule = ruleOfNumber(number)!
    const duplicates = duplicateIndexes(this.duplicatesOf(offset) ?? new Uint8Array())
    const keys = new KeyBytes()
    forEachDedupKey(hashes, (low, high, index) => {
      if (duplicates.has(index)) return
      keys.addKey(low, high)
      if ('windowMs' in rule) keys.addTime(acceptedAt)
    })
    const found = { first: offset, end: offset + 1 }
    if ('windowMs' in rule) return { ...found, entries: keys.take(), attempts: [] }
    const attempt = { first: offset, kind: kindOf(rule.attempt), acceptedAt, keys: keys.take() }
    return { ...found, entries: new Uint8Array(), attempts: attempt.keys.length > 0 ? [attempt] : [] }
  }
}

interface RuledRow {
  readonly offset: Offset
  readonly crc: number
  readonly bytes: Uint8Array
  readonly rule: number
}

function bytesOf({ entries, attempts }: CommitKeys): number {
  return attempts.reduce((sum, { keys }) => sum + keys.length, entries.length)
}
