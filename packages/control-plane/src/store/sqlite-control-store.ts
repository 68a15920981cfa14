import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { SecretBox } from '../workspace/secret-box.ts'
import { type ControlStore, WrongSecretKeyError } from './control-store.ts'
import { hasTable, refuseNewerDatabase } from './database-look.ts'
import { KyselyControlStore, type NewWorkspace } from './kysely-control-store.ts'
import { NodeSqliteDialect } from './sqlite-dialect.ts'
import type { Tables } from './tables.ts'

/**
 * Opens the control store in a SQLite file; creates the file if it is missing.
 *
 * @throws NewerDatabaseError or WrongSecretKeyError, before it writes anything.
 */
export async function openSqliteControlStore(
  file: string,
  secrets: SecretBox,
  newWorkspace: NewWorkspace,
): Promise<ControlStore> {
  if (existsSync(file)) judge(file, secrets)
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    const db = new Kysely<Tables>({ dialect: new NodeSqliteDialect(database) })
    return await KyselyControlStore.open(db, secrets, newWorkspace, file)
  } catch (error) {
    database.close()
    throw error
  }
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
