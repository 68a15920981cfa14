import { existsSync } from 'node:fs'
import { DatabaseSync, type Session, type StatementSync } from 'node:sqlite'
import { removeSetAside } from './damaged-file.ts'
import { migrate, refuseNewer } from './schema.ts'

/** Nobody else writes; whoever holds the file all the same is waited for again and again, and not for long each time. */
const BUSY_MS = 250

export interface CatalogFileUse {
  /** Records what each transaction changes, for `changes`. */
  readonly recordsChanges?: boolean
  /** The file is lost with its process, because it can be made again: nothing is synced. */
  readonly isScratch?: boolean
}

/**
 * catalog.db, with a transaction that is always open: what is written is read by this connection at once, and reaches the
 * disk as a whole, with the positions, when it is committed. Whatever ends the process in between leaves the last commit.
 */
export class CatalogDatabase {
  /** Whether an earlier version wrote the file: no changes lead from that file to this one. */
  readonly isMigrated: boolean
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #recordsChanges: boolean
  readonly #statements = new Map<string, StatementSync>()
  /** Whether the write-ahead log may hold what was removed without traces: a reader kept it from being emptied. */
  #hasTraces: boolean
  /** Since the last commit; undefined while nothing is recorded. */
  #session: Session | undefined

  /**
   * Opens the database, makes it if it is missing, and brings it to this version's schema.
   *
   * @throws NewerCatalogError for one of a later version; nothing is changed then.
   */
  static open(file: string, { recordsChanges = false, isScratch = false }: CatalogFileUse = {}): CatalogDatabase {
    if (existsSync(file)) {
      // Looks before it touches: a connection that may write would already change the file.
      using look = new DatabaseSync(file, { readOnly: true })
      refuseNewer(look)
    }
    const db = new DatabaseSync(file, { timeout: BUSY_MS })
    try {
      db.exec(`
        PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isScratch ? 'OFF' : 'FULL'};
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192; PRAGMA secure_delete = FAST`)
      const isMigrated = migrate(db)
      // The last run may have ended before it could.
      const hasTraces = !emptyLog(db)
      db.exec('BEGIN IMMEDIATE')
      return new CatalogDatabase(file, db, { recordsChanges, isMigrated, hasTraces })
    } catch (error) {
      db.close()
      throw error
    }
  }

  private constructor(
    file: string,
    db: DatabaseSync,
    { recordsChanges, isMigrated, hasTraces }: Readonly<Record<'recordsChanges' | 'isMigrated' | 'hasTraces', boolean>>,
  ) {
    this.#file = file
    this.#db = db
    this.isMigrated = isMigrated
    this.#recordsChanges = recordsChanges
    this.#hasTraces = hasTraces
    this.#record()
  }

  get hasTraces(): boolean {
    return this.#hasTraces
  }

  run(sql: string, ...values: (string | number | Uint8Array)[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid)
  }

  get(sql: string, ...values: (string | number | Uint8Array)[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined
  }

  all(sql: string, ...values: (string | number | Uint8Array)[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[]
  }

  iterate(sql: string, ...values: (string | number | Uint8Array)[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...values) as Iterable<Row>
  }

  /** All that was written since the last commit is on disk afterwards, synced; the next transaction has begun. */
  commit(): void {
    this.#db.exec('COMMIT')
    if (this.#hasTraces) this.#hasTraces = !emptyLog(this.#db)
    this.#record()
    this.#db.exec('BEGIN IMMEDIATE')
  }

  /** The changes of the open transaction, as `apply` takes them; empty if there are none. */
  changes(): Uint8Array {
    return this.#session!.changeset()
  }

  /** Records nothing until the next commit: for a change of nearly everything, whose old values would fill the memory. */
  stopRecording(): void {
    this.#session?.close()
    this.#session = undefined
  }

  /**
   * Makes and commits the changes of another file, which was equal to this one before them.
   *
   * @throws Error if it was not; nothing is changed then.
   */
  apply(changes: Uint8Array): void {
    if (!this.#db.applyChangeset(changes)) throw new Error('changes of the catalog do not fit the file')
    this.commit()
  }

  /** Commits, and writes a copy without free pages, so without anything that was deleted. */
  copyTo(file: string): void {
    this.#db.exec('COMMIT')
    try {
      this.#db.prepare('VACUUM INTO ?').run(file)
    } finally {
      this.#record()
      this.#db.exec('BEGIN IMMEDIATE')
    }
  }

  /** Nothing that was written since the last commit is left. */
  rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    this.#db.exec('BEGIN IMMEDIATE')
  }

  /**
   * Overwrites what the work deletes, in the file as well as in the write-ahead log; while another connection reads, with a later
   * commit. A damaged file of before, which may have it too, is removed.
   */
  commitWithoutTraces(work: () => void): void {
    this.stopRecording()
    this.#db.exec('PRAGMA secure_delete = ON')
    try {
      work()
      this.#db.exec('COMMIT; PRAGMA incremental_vacuum')
      this.#hasTraces = !emptyLog(this.#db)
      removeSetAside(this.#file)
    } finally {
      this.#db.exec('PRAGMA secure_delete = FAST')
      this.#record()
      if (!this.#db.isTransaction) this.#db.exec('BEGIN IMMEDIATE')
    }
  }

  /** Without a commit: what is not committed is counted again by the next start. */
  close(): void {
    this.#db.close()
  }

  /** A session cannot be emptied: each transaction has its own. */
  #record(): void {
    if (!this.#recordsChanges) return
    const next = this.#db.createSession()
    this.#session?.close()
    this.#session = next
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** @returns false if another connection, such as that of a backup, still reads what the write-ahead log has. */
function emptyLog(db: DatabaseSync): boolean {
  return (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }).busy === 0
}

// biome-ignore lint/suspicious/noExplicitAny: a row has the columns that its statement names
export type Row = Record<string, any>
