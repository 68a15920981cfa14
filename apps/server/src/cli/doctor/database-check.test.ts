import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { makeBackup, repack } from '../../backup/backup-under-test.ts'
import { run } from '../command-under-test.ts'

const NAMES = ['control.db', 'delivery.db', 'catalog.db']

/** What doctor says of the databases and the catalog, of a data folder or of the file of a backup. */
async function examine(data: string, ...words: string[]) {
  const { code, out } = await run(['doctor', '--json', ...words], { MILLRACE_DATA_DIR: data, MILLRACE_PORT: '0' })
  const findings = JSON.parse(out).findings as { verdict: string; what: string; text: string }[]
  const wanted = findings.filter(({ what }) => what === 'databases' || what === 'catalog')
  return { code, found: wanted.map(({ verdict, text }) => `${verdict} ${text}`) }
}

/** A data folder with databases of many pages; the last stays open in the returned connection, with rows in its WAL alone. */
function makeDatabases(data: string): DatabaseSync {
  mkdirSync(join(data, 'log'), { recursive: true })
  writeFileSync(join(data, 'format'), '1\n')
  writeFileSync(join(data, 'secret.key'), 'key', { mode: 0o600 })
  const opened = NAMES.map((name) => {
    const database = new DatabaseSync(join(data, name))
    database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE t (n INTEGER, text TEXT); CREATE INDEX t_text ON t (text);
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
      INSERT INTO t SELECT n, hex(randomblob(50)) FROM numbers;
      PRAGMA wal_checkpoint(TRUNCATE);
      INSERT INTO t VALUES (0, 'in the WAL');
    `)
    return database
  })
  for (const database of opened.slice(0, -1)) database.close()
  return opened.at(-1)!
}

/** Overwrites some pages in the middle. */
function damage(file: string): void {
  const middle = Math.floor(statSync(file).size / 2 / 4096) * 4096
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(3 * 4096, 0x5a), 0, 3 * 4096, middle)
  closeSync(descriptor)
}

test('every page of the databases is read, one that is open too, and nothing is changed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-databases-'))
  const data = join(folder.path, 'data')
  using _open = makeDatabases(data)
  const before = readdirSync(data)
  const whole = { code: 0, found: [`ok ${NAMES.join(', ')}: every page and index fits`] }
  expect(await examine(data)).toEqual(whole)
  expect(readdirSync(data)).toEqual(before)
  expect((await examine(data, '--quick')).found).toEqual(['ok not read (--quick)'])
})

test.each(NAMES)('a damaged %s is named, with what to do, and the others are read', async (name) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-databases-'))
  const data = join(folder.path, 'data')
  makeDatabases(data).close()
  damage(join(data, name))
  const { code, found } = await examine(data)
  const remedy =
    name === 'catalog.db' ? 'rebuild it from the log: npm run millrace -- schema rebuild' : 'restore a backup'
  expect(code).toBe(1)
  expect(found).toEqual([
    expect.stringMatching(`^fail .*/${name} is damaged \\(.+\\): ${remedy}$`),
    `ok ${NAMES.filter((other) => other !== name).join(', ')}: every page and index fits`,
  ])
})

test('a database in a backup is read as one in a data folder, and one without a catalog is told', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-databases-'))
  const { file } = await makeBackup(folder.path, 20)
  const data = join(folder.path, 'none')
  const whole = { code: 0, found: ['ok control.db, delivery.db, catalog.db: every page and index fits'] }
  expect(await examine(data, file)).toEqual(whole)
  expect((await examine(data, '--quick', file)).found).toEqual(['ok not read (--quick)'])

  const damaged = join(folder.path, 'damaged.tar')
  repack(file, damaged, (unpacked) => damage(join(unpacked, 'catalog.db')))
  const { code, found } = await examine(data, damaged)
  expect(code).toBe(1)
  expect(found[0]).toMatch(/^fail .*catalog\.db is damaged/)
  rmSync(damaged)
})
