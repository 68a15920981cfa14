import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ATTEMPT_KINDS, type AttemptEntry } from '../../dedup/attempts.ts'
import type { DecidedCommit } from '../../dedup/decided-commit.ts'
import type { Offset } from '../../event-log.ts'
import { duplicateBytes } from '../../frames.ts'
import { guardDamage } from './damaged-segment.ts'
import { hasTable } from './segment-tables.ts'

const DEDUP_TABLES = `
  CREATE TABLE IF NOT EXISTS duplicates (offset INTEGER PRIMARY KEY, indexes BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS dedup (first INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS attempts (
    first INTEGER NOT NULL, kind INTEGER NOT NULL, accepted_at INTEGER NOT NULL, keys BLOB NOT NULL
  ) STRICT`

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

/**
 * The deduplication tables of a segment. They are created with the first commit that needs them:
 *
 *   duplicates     offset of a record, indexes of its duplicates as u16, little-endian
 *   dedup          first offset of a commit, window entries of its other events (dedup-window.ts)
 *   attempts       first offset of a commit, kind, time, 8 bytes per remembered event (attempts.ts)
 */
export class SegmentKeys {
  readonly #path: string
  readonly #database: DatabaseSync
  #hasTables: boolean
  #writes: DedupWrites | undefined

  constructor(path: string, database: DatabaseSync) {
    this.#path = path
    this.#database = database
    this.#hasTables = hasTable(database, 'duplicates')
  }

  /** Writes the result of a commit inside its transaction. */
  write(first: Offset, { duplicates, entries, attempts }: DecidedCommit): void {
    this.keep(attempts)
    const writes = this.#writes!
    for (const [place, indexes] of duplicates) writes.duplicates.run(first + place, duplicateBytes(indexes))
    if (entries.length > 0) writes.window.run(first, entries)
  }

  /** Writes remembered keys inside a transaction. */
  keep(entries: readonly AttemptEntry[]): void {
    this.#writes ??= prepareDedupWrites(this.#database)
    for (const { first, kind, acceptedAt, keys } of entries) {
      this.#writes.attempts.run(first, ATTEMPT_KINDS.indexOf(kind), acceptedAt, keys)
    }
  }

  /** The transaction of `write` or `keep` was committed. */
  committed(): void {
    this.#hasTables = true
  }

  /** The transaction was rolled back, perhaps with the tables. */
  rolledBack(): void {
    this.#writes = undefined
  }

  /** Entries of the dedup window, in commit order. @throws DamagedSegmentError */
  windowEntries(): Uint8Array[] {
    if (!this.#hasTables) return []
    return guardDamage(this.#path, () => {
      const rows = this.#database.prepare('SELECT entries FROM dedup ORDER BY first').all()
      return rows.map(({ entries }) => entries as Uint8Array)
    })
  }

  /** Keys remembered for repeats, in commit order. @throws DamagedSegmentError */
  attemptEntries(): AttemptEntry[] {
    if (!hasTable(this.#database, 'attempts')) return []
    return guardDamage(this.#path, () =>
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

  /** Indexes of the duplicates of a record, as u16; undefined without any. */
  duplicatesOf(offset: Offset): Uint8Array | undefined {
    if (!this.#hasTables) return undefined
    const row = this.#database.prepare('SELECT indexes FROM duplicates WHERE offset = ?').get(offset)
    return row?.['indexes'] as Uint8Array | undefined
  }
}
