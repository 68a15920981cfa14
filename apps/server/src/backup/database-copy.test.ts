import { existsSync, rmSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { copyDatabase } from './database-copy.ts'

const never = new AbortController().signal

test('a database is copied as it is, with what is only in its WAL, while another connection writes it', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-copy-'))
  const from = join(folder.path, 'given.db')
  using writer = new DatabaseSync(from)
  writer.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)',
  )
  const into = join(folder.path, 'work', 'copy.db')
  await copyDatabase({ from, into, signal: never })
  using copy = new DatabaseSync(into, { readOnly: true })
  expect(copy.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }])
})

test('what SQLite says of a database that it cannot copy is told', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-copy-'))
  const into = join(folder.path, 'copy.db')
  await expect(copyDatabase({ from: join(folder.path, 'missing.db'), into, signal: never })).rejects.toThrow(
    'unable to open database file',
  )
})

test('a copy that cannot go on ends at once when it is told to', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-copy-'))
  const from = join(folder.path, 'given.db')
  using holder = new DatabaseSync(from)
  holder.exec('CREATE TABLE t (n INTEGER); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)')
  const stop = new AbortController()
  const into = join(folder.path, 'work', 'copy.db')
  const copying = copyDatabase({ from, into, signal: stop.signal })
  // Left alone it says after five seconds that the database is locked; a thread could not be ended before.
  stop.abort()
  await expect(copying).rejects.toMatchObject({ name: 'AbortError' })
  rmSync(join(folder.path, 'work'), { recursive: true })
  expect(existsSync(into)).toBe(false)
  await expect(copyDatabase({ from, into, signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
})
