import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Change } from '../workspace/change.ts'
import { SecretBox } from '../workspace/secret-box.ts'
import { exampleConnection, exampleDestination, exampleSource } from './conformance/example-rows.ts'
import type { StoreDatabase } from './conformance/store-database.ts'
import { describeControlStore } from './conformance.ts'
import { NewerDatabaseError, WrongSecretKeyError } from './control-store.ts'
import { sqliteControlStore } from './sqlite-control-store.ts'

const RIGHT = Buffer.alloc(32, 1)
const WRONG = Buffer.alloc(32, 2)

describeControlStore('SQLite', () => new SqliteDatabase())

test('a wrong key leaves every byte of the data as it was', async () => {
  await using database = await filledDatabase()
  const before = database.bytes()
  await expect(database.open('wrong')).rejects.toThrow(WrongSecretKeyError)
  await expect(database.open('wrong')).rejects.toThrow(`The secret key does not match ${database.file}`)
  expect(database.bytes()).toEqual(before)
})

test('the data of a newer version is refused and left as it was', async () => {
  await using database = await filledDatabase()
  {
    using raw = new DatabaseSync(database.file)
    raw.exec("INSERT INTO kysely_migration (name, timestamp) VALUES ('0999-from-the-future', '2030-01-01')")
  }
  const before = database.bytes()
  await expect(database.open()).rejects.toThrow(NewerDatabaseError)
  expect(database.bytes()).toEqual(before)
})

test.each([
  ['the audit log', ['audit_entry', 'credential', 'transformation', 'library', 'code_version', 'session'], '0001-z'],
  ['credentials', ['credential', 'transformation', 'library', 'code_version', 'session'], '0002-z'],
  ['transformations', ['transformation', 'library', 'code_version', 'session'], '0003-z'],
  ['sessions', ['session'], '0004-z'],
  ['partitions', [], '0005-z'],
  ['rules of connections', [], '0006-z'],
])('a database from before %s is brought up to date with all it holds', async (_, tables, lastMigration) => {
  const hasNoPartitions = lastMigration < '0006'
  await using database = await filledDatabase([
    ...EXAMPLES,
    { kind: 'connection', id: 'c-1', value: exampleConnection },
  ])
  {
    using raw = new DatabaseSync(database.file)
    for (const table of tables) raw.exec(`DROP TABLE ${table}`)
    if (hasNoPartitions) raw.exec('ALTER TABLE source DROP COLUMN partition')
    raw.exec('ALTER TABLE connection DROP COLUMN rules')
    raw.prepare('DELETE FROM kysely_migration WHERE name > ?').run(lastMigration)
  }
  await using store = await database.open()
  const { sources, destinations, connections } = await store.load()
  expect(connections).toEqual([exampleConnection])
  expect(destinations).toEqual([exampleDestination])
  expect(sources).toEqual([hasNoPartitions ? { ...exampleSource, partition: 0 } : exampleSource])
  expect(await store.auditEntries({ limit: 1 })).toEqual([])
})

test('no secret stands in any file, sealed ones open only in their own row', async () => {
  await using database = new SqliteDatabase()
  {
    await using store = await database.open()
    await store.commit({ commits: 0, revision: 0 }, [{ kind: 'destination', id: 'd-1', value: exampleDestination }], [])
    // While it is open the newest rows stand in the write-ahead log.
    expect(database.bytes().toString('latin1')).not.toContain('canary')
  }
  expect(database.bytes().toString('latin1')).not.toContain('canary')
  {
    using raw = new DatabaseSync(database.file)
    raw.exec("INSERT INTO destination SELECT 'd-2', 'other', created_at, document, config FROM destination")
  }
  await using store = await database.open()
  await expect(store.load()).rejects.toThrow()
})

test('a commit that cannot be written changes nothing, and the next one can be', async () => {
  await using database = await filledDatabase()
  await using store = await database.open()
  const { version } = await store.load()
  const changes = [{ kind: 'destination', id: 'd-1', value: undefined }] as const
  {
    using other = new DatabaseSync(database.file)
    other.exec('BEGIN IMMEDIATE')
    await expect(store.commit(version, changes, [])).rejects.toThrow('database is locked')
  }
  expect((await store.load()).destinations).toHaveLength(1)
  await store.commit(version, changes, [])
  expect((await store.load()).destinations).toHaveLength(0)
})

const EXAMPLES: readonly Change[] = [
  { kind: 'source', id: 's-1', value: exampleSource },
  { kind: 'destination', id: 'd-1', value: exampleDestination },
]

async function filledDatabase(changes = EXAMPLES): Promise<SqliteDatabase> {
  const database = new SqliteDatabase()
  await using store = await database.open()
  await store.commit({ commits: 0, revision: 0 }, changes, [])
  return database
}

class SqliteDatabase implements StoreDatabase {
  readonly #directory = mkdtempSync(join(tmpdir(), 'millrace-control-'))
  readonly file = join(this.#directory, 'control.db')

  open(key: 'right' | 'wrong' = 'right') {
    const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
    const secrets = new SecretBox(key === 'right' ? RIGHT : WRONG, random)
    return sqliteControlStore(this.file)(secrets, { id: `w-${Math.random()}`, createdAt: 1 })
  }

  /** Of all files of the database together; the memory that processes share is none. */
  bytes(): Buffer {
    const files = readdirSync(this.#directory).filter((name) => !name.endsWith('-shm'))
    return Buffer.concat(files.sort().map((name) => readFileSync(join(this.#directory, name))))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.#directory, { recursive: true })
  }
}
