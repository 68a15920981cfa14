import { rmSync, writeFileSync } from 'node:fs'
import { cp, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqliteEventLog } from '@millrace/log'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failedStart } from './failed-start.ts'
import { folderBytes } from './folder-bytes.ts'
import { type Environment, PLAIN, ServerProcess } from './server-process.ts'

/*
 * Data that this version or this key cannot read: the server says so and leaves every byte as it is
 * (contracts/control-plane.md §11 [D727], §12 item 28).
 */

type Folder = Awaited<ReturnType<typeof mkdtempDisposable>>

/** Of a server that has run, holds a secret and was stopped. */
let kept: Folder

beforeAll(async () => {
  kept = await newFolder()
  await using server = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: kept.path })
  const made = await fetch(`${server.url}/v2/destinations`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${PLAIN['MILLRACE_OWNER_TOKEN']}` },
    body: JSON.stringify({
      name: 'Hook',
      type: 'WEBHOOK',
      config: { webhookUrl: 'https://hooks.cinema.example/in', signingSecret: 'sixteen-and-more-characters' },
    }),
  })
  expect(made.status).toBe(200)
  expect(await server.stop()).toBe(0)
})
afterAll(() => kept?.remove())

describe('a data folder of a newer version', () => {
  test.each<[string, (folder: string) => void]>([
    ['format', (folder) => writeFileSync(join(folder, 'format'), '99\n')],
    ['delivery.db', (folder) => change(join(folder, 'delivery.db'), 'PRAGMA user_version = 99')],
    [
      'control.db',
      (folder) =>
        change(
          join(folder, 'control.db'),
          "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-of-the-future', '2030-01-01T00:00:00.000Z')",
        ),
    ],
  ])('%s', async (_file, makeNewer) => {
    await using folder = await copyOfKept()
    makeNewer(folder.path)
    expect(await refusedUntouched(folder.path, PLAIN)).toMatch(/newer version/)
  })
})

test('a record of a newer version in the log stops the start, which says what to do', async () => {
  await using folder = await copyOfKept()
  {
    await using log = await SqliteEventLog.open({ directory: join(folder.path, 'log'), clock: systemClock })
    const rules = 65_535
    const id = {
      sourceId: 's',
      clientAddress: '203.0.113.9',
      seed: new Uint8Array(16),
      messageHashes: new Uint8Array(8),
    }
    const header = { ...id, route: 'track' as const, acceptedAt: Date.now(), rules, policySet: 0 }
    await log.append(0, 'live', { header, body: Buffer.from('{"userId":"u"}') })
  }
  expect(await failedStart({ ...PLAIN, MILLRACE_DATA_DIR: folder.path })).toMatch(
    /^Millrace cannot start: record has unknown enrichment rules \d+: a newer version of Millrace wrote it/m,
  )
})

describe('without the key of its secrets', () => {
  test('another key', async () => {
    await using folder = await copyOfKept()
    const failure = await refusedUntouched(folder.path, { ...PLAIN, MILLRACE_SECRET_KEY: 'ab'.repeat(32) })
    expect(failure).toMatch(/MILLRACE_SECRET_KEY|secret\.key/)
  })

  test('no key file', async () => {
    await using folder = await copyOfKept()
    rmSync(join(folder.path, 'secret.key'))
    expect(await refusedUntouched(folder.path, PLAIN)).toMatch(/secret\.key is missing.*MILLRACE_SECRET_KEY/)
  })

  test('a key file that holds none', async () => {
    await using folder = await copyOfKept()
    writeFileSync(join(folder.path, 'secret.key'), 'nonsense\n')
    expect(await refusedUntouched(folder.path, PLAIN)).toMatch(/secret\.key is not a key/)
  })

  test('the same key as a setting opens it', async () => {
    await using folder = await copyOfKept()
    const key = folderBytes(folder.path).get('secret.key')!.toString().trim()
    rmSync(join(folder.path, 'secret.key'))
    const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_SECRET_KEY: key }
    await using server = await ServerProcess.start(environment)
    expect(await server.stop()).toBe(0)
  })
})

function newFolder(): Promise<Folder> {
  return mkdtempDisposable(join(tmpdir(), 'millrace-refused-data-'))
}

async function copyOfKept(): Promise<Folder> {
  const folder = await newFolder()
  await cp(kept.path, folder.path, { recursive: true })
  return folder
}

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file)
  database.exec(sql)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** @returns what the server said. */
async function refusedUntouched(folder: string, environment: Environment): Promise<string> {
  const before = folderBytes(folder)
  const failure = await failedStart({ ...environment, MILLRACE_DATA_DIR: folder })
  expect(failure).toMatch(/^Millrace cannot start: /)
  const after = folderBytes(folder)
  // SQLite leaves these beside a database in WAL mode that was looked at; they hold nothing.
  for (const [path, bytes] of after) if (/\.db-(shm|wal)$/.test(path) && !hasContent(path, bytes)) after.delete(path)
  expect([...after.keys()]).toEqual([...before.keys()])
  for (const [path, bytes] of before) expect([path, after.get(path)!.equals(bytes)]).toEqual([path, true])
  return failure
}

function hasContent(path: string, bytes: Buffer): boolean {
  return path.endsWith('-wal') && bytes.length > 0
}
