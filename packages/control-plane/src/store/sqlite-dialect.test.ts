import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { NodeSqliteDialect } from './sqlite-dialect.ts'

test('why a transaction failed is told even where SQLite has rolled back by itself', async () => {
  await using database = openDatabase()
  const { db } = database
  await sql`CREATE TABLE seat (number INTEGER PRIMARY KEY)`.execute(db)
  const failed = db.transaction().execute(async (transaction) => {
    await sql`INSERT INTO seat VALUES (1)`.execute(transaction)
    await sql`INSERT OR ROLLBACK INTO seat VALUES (1)`.execute(transaction)
  })
  await expect(failed).rejects.toThrow('UNIQUE constraint failed')
  await db.transaction().execute((transaction) => sql`INSERT INTO seat VALUES (2)`.execute(transaction))
  expect((await sql`SELECT number FROM seat`.execute(db)).rows).toEqual([{ number: 2 }])
})

test('a migration that fails leaves nothing of itself', async () => {
  await using database = openDatabase()
  const { db } = database
  const migrate = (end: () => Promise<void>) => {
    const first: Migration = { up: async (db) => void (await sql`CREATE TABLE hall (name TEXT)`.execute(db)) }
    const second: Migration = {
      up: async (db) => {
        await sql`ALTER TABLE hall ADD COLUMN seats INTEGER`.execute(db)
        await end()
      },
    }
    const provider = { getMigrations: async () => ({ '1': first, '2': second }) }
    return new Migrator({ db, provider }).migrateToLatest()
  }
  const columns = async () => (await sql`SELECT name FROM pragma_table_info('hall')`.execute(db)).rows
  const { error } = await migrate(() => Promise.reject(new Error('no more disk')))
  expect(String(error)).toContain('no more disk')
  expect(await columns()).toEqual([])
  expect((await migrate(() => Promise.resolve())).error).toBeUndefined()
  expect(await columns()).toEqual([{ name: 'name' }, { name: 'seats' }])
})

function openDatabase() {
  const db = new Kysely<unknown>({ dialect: new NodeSqliteDialect(new DatabaseSync(':memory:')) })
  return { db, [Symbol.asyncDispose]: () => db.destroy() }
}
