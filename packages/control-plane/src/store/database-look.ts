import { DatabaseSync } from 'node:sqlite'
import { NewerDatabaseError } from './control-store.ts'
import { MIGRATIONS } from './tables.ts'

/** @throws NewerDatabaseError for a database of a later version. */
export function refuseNewerDatabase(database: DatabaseSync, file: string): void {
  if (!hasTable(database, 'kysely_migration')) return
  const migrations = database.prepare('SELECT name FROM kysely_migration').all()
  if (migrations.some(({ name }) => !Object.hasOwn(MIGRATIONS, String(name)))) throw new NewerDatabaseError(file)
}

/**
 * The facts that a control plane's database shows without its secret key: the names of the destinations, by id.
 *
 * @param file must not be written meanwhile.
 * @throws NewerDatabaseError
 */
export function destinationNames(file: string): ReadonlyMap<string, string> {
  using database = new DatabaseSync(file, { readOnly: true })
  refuseNewerDatabase(database, file)
  const rows = database.prepare('SELECT id, document FROM destination ORDER BY created_at, id').all()
  return new Map(rows.map(({ id, document }) => [String(id), (JSON.parse(String(document)) as { name: string }).name]))
}

/** Ends all sessions: a restored database has those that were ended since. @param file must not be in use. */
export function endSessions(file: string): void {
  using database = new DatabaseSync(file)
  if (hasTable(database, 'session')) database.exec('DELETE FROM session')
}

export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}
