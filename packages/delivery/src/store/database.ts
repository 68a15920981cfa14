import { DatabaseSync } from 'node:sqlite'
import { migrate } from './schema.ts'

/** Opens delivery.db, makes it if it is missing, and brings it to this version's schema. */
export function openDatabase(file: string): DatabaseSync {
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

/** Runs `work` in one transaction: all of it is on disk afterwards, or none. */
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
