import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { migrate, refuseNewer } from './schema.ts'

/**
 * Opens delivery.db, creates it if it is missing, and migrates it to this version's schema.
 *
 * @throws NewerSchemaError for a database of a later version; nothing is changed then.
 */
export function openDatabase(file: string): DatabaseSync {
  if (existsSync(file)) refuseNewerFile(file)
  const db = new DatabaseSync(file)
  try {
    db.exec(`
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA temp_store = MEMORY;
    `)
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Reads the version first: even opening a connection that may write changes the file. */
function refuseNewerFile(file: string): void {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    refuseNewer(db)
  } finally {
    db.close()
  }
}

/** Runs `work` in one transaction. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
