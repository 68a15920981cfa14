import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { SecretBox } from '../workspace/secret-box.ts'
import { type ControlStoreOpener, WrongSecretKeyError } from './control-store.ts'
import { hasTable, refuseNewerDatabase } from './database-look.ts'
import { type ControlDatabase, KyselyControlStore } from './kysely-control-store.ts'
import { NodeSqliteDialect } from './sqlite-dialect.ts'
import { MIGRATIONS, type Tables } from './tables.ts'

/**
 * The control store in a SQLite file, which is created if it is missing. One process has it open.
 *
 * @returns throws NewerDatabaseError or WrongSecretKeyError before it writes anything.
 */
export function sqliteControlStore(file: string): ControlStoreOpener {
  return async (secrets, newWorkspace) => {
    if (existsSync(file)) judge(file, secrets)
    const database = new DatabaseSync(file)
    try {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
      const db = new Kysely<Tables>({ dialect: new NodeSqliteDialect(database) })
      await migrateToLatest(db, file)
      return await KyselyControlStore.open(soleDatabase(db, file), secrets, newWorkspace)
    } catch (error) {
      database.close()
      throw error
    }
  }
}

/** A database of one process: each transaction is alone, and nobody else waits for commits. */
function soleDatabase(db: Kysely<Tables>, where: string): ControlDatabase {
  return {
    db,
    where,
    isShared: false,
    reading: (work) => db.transaction().execute(work),
    writing: (work) => db.transaction().execute(work),
    creating: (work) => db.transaction().execute(work),
    announce: async () => {},
    onHint: () => () => {},
    close: () => db.destroy(),
  }
}

async function migrateToLatest(db: Kysely<Tables>, file: string): Promise<void> {
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } }).migrateToLatest()
  if (error !== undefined) throw new Error(`${file} could not be migrated`, { cause: error })
}

/** Reads an existing file through a read-only connection. */
function judge(file: string, secrets: SecretBox): void {
  using database = new DatabaseSync(file, { readOnly: true })
  refuseNewerDatabase(database, file)
  if (hasTable(database, 'workspace')) {
    const workspace = database.prepare('SELECT key_check FROM workspace').get()
    if (workspace !== undefined && !secrets.fits(String(workspace['key_check']))) throw new WrongSecretKeyError(file)
  }
}
