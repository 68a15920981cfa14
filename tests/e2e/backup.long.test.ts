import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from './client.ts'
import { command } from './command.ts'
import { PLAIN, ServerProcess } from './server-process.ts'

/* POST /v2/admin/backup and lastBackup: contracts/control-plane.md §8 (507), §10 [D725]. */

const NAME = /^backup-\d{8}T\d{6}Z\.tar$/
const ASK_AGAIN_MS = 5

let env: DevEnv
beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env?.[Symbol.asyncDispose]())

test('a backup is begun with 202, shown while it runs and when it is done, and written whole for its owner alone', async () => {
  expect((await env.api('GET', '/v2/admin/info')).json.info.lastBackup).toBeNull()
  const { source } = await env.webhook()
  await env.send('/v1/track', { messageId: 'm-backup', userId: 'u', event: 'x' }, source.writeKey)
  const { status, json } = await env.api('POST', '/v2/admin/backup')
  expect([status, json]).toEqual([202, { backup: { file: expect.stringMatching(NAME), state: 'running' } }])
  const { file } = json.backup
  expect(await ended(env)).toEqual({ file, state: 'done' })
  const folder = join(env.folder, 'backups')
  expect(readdirSync(folder)).toEqual([file])
  if (process.platform !== 'win32') expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
  const { code, out } = await command(['doctor', join(folder, file)], {})
  expect(out).toMatch(
    /^ok {4}backup {7}.*\.tar is complete: made .* UTC by Millrace .*, 1 log segment\nok {4}databases .*\n\nNo problems found\.\n$/,
  )
  expect(code).toBe(0)

  const entries = (await env.api('GET', '/v2/audit-log?kind=backup')).json.entries
  expect(entries).toMatchObject([{ action: 'create', kind: 'backup', resourceId: file, outcome: 'ok' }])

  await env.restart()
  expect((await env.api('GET', '/v2/admin/info')).json.info.lastBackup).toEqual({ file, state: 'done' })
})

test('no secret is in it in clear, nor the key that they are encrypted with, nor the token of the command line', async () => {
  await env.api('PUT', '/v2/credentials/geo_api', { value: 'canary-credential-4711' })
  const headers = [{ from: 'Authorization', to: 'canary-header-4711' }]
  await env.webhook({ config: { headers } })
  const { json } = await env.api('POST', '/v2/admin/backup')
  await ended(env)
  const bytes = readFileSync(join(env.folder, 'backups', json.backup.file))
  const key = readFileSync(join(env.folder, 'secret.key'), 'utf8').trim()
  for (const secret of [key, Buffer.from(key, 'base64'), 'canary-credential-4711', 'canary-header-4711', env.token]) {
    expect(bytes.includes(secret), String(secret)).toBe(false)
  }
})

test('one backup is made at a time', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => env.api('POST', '/v2/admin/backup')))
  const begun = answers.filter(({ status }) => status === 202)
  expect(begun).toHaveLength(1)
  const { file } = begun[0]!.json.backup
  for (const { status, json } of answers.filter((answer) => answer !== begun[0])) {
    expect([status, json]).toEqual([409, { error: 'A backup is running', code: 'conflict', details: { file } }])
  }
  expect(await ended(env)).toEqual({ file, state: 'done' })
})

test.each([
  [{ log: 'no' }, 'log must be a boolean'],
  [{ log: null }, 'log must be a boolean'],
  [{ log: false, colour: 1 }, 'Unknown member: colour'],
])('%j is refused', async (body, error) => {
  const { status, json } = await env.api('POST', '/v2/admin/backup', body)
  expect([status, json]).toEqual([400, { error, code: 'bad_request', details: null }])
})

test('the room is judged before it begins: a backup never leaves less than twice the disk floor', async () => {
  const { bavail, bsize } = statfsSync(tmpdir())
  const floorMb = Math.floor((bavail * bsize * 0.6) / 1024 / 1024)
  await using tight = await DevEnv.open({ settings: { MILLRACE_MIN_FREE_DISK_MB: String(floorMb) } })
  const { status, json } = await tight.api('POST', '/v2/admin/backup')
  expect([status, json]).toEqual([
    507,
    {
      error: 'Not enough space for a backup',
      code: 'insufficient_storage',
      details: { needed: expect.any(Number), free: expect.any(Number) },
    },
  ])
  expect(json.details.needed).toBeGreaterThan(statSync(join(tight.folder, 'control.db')).size)
  expect(json.details.free).toBeLessThan(2 * floorMb * 1024 * 1024)
  expect((await tight.api('GET', '/v2/admin/info')).json.info.lastBackup).toBeNull()
  const { entries } = (await tight.api('GET', '/v2/audit-log?kind=backup')).json
  expect(entries).toMatchObject([{ action: 'create', resourceId: null, outcome: 'insufficient_storage' }])
})

test('a backup that fails says why, leaves nothing under its name, and keeps nobody from the next', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-backups-'))
  try {
    await using other = await DevEnv.open({ settings: { MILLRACE_BACKUP_DIR: folder } })
    // Whatever second it begins in, a file is where the folder of its copies has to be.
    const stamps = Array.from({ length: 60 }, (_, second) => new Date(Date.now() + second * 1000).toISOString())
    const works = stamps.map((at) => `backup-${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z.tar.work`)
    for (const work of works) writeFileSync(join(folder, work), '')
    const { status, json } = await other.api('POST', '/v2/admin/backup')
    expect(status).toBe(202)
    const { file } = json.backup
    const reason = expect.stringMatching(/EEXIST|ENOTDIR/)
    expect(await ended(other)).toEqual({ file, state: 'failed', reason })
    expect(readdirSync(folder).filter((name) => name.startsWith(file))).toEqual([])
    await other.restart()
    expect(await ended(other)).toEqual({ file, state: 'failed', reason })

    for (const work of works) rmSync(join(folder, work), { force: true })
    await other.api('POST', '/v2/admin/backup')
    expect(await ended(other)).toMatchObject({ state: 'done' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('where nothing can be written the answer is 503', async () => {
  await using other = await DevEnv.open({ settings: { MILLRACE_BACKUP_DIR: join(env.folder, 'format', 'backups') } })
  const { status, json } = await other.api('POST', '/v2/admin/backup')
  const details = { reason: expect.stringContaining('ENOTDIR') }
  expect([status, json]).toEqual([503, { error: 'Service unavailable', code: 'unavailable', details }])
  expect(await ended(other)).toMatchObject({ state: 'failed', reason: expect.stringContaining('ENOTDIR') })
})

test('kill -9 and SIGTERM leave a whole backup or none, and the next start removes what is left and tells', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-backup-'))
  const backups = join(folder.path, 'backups')
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: join(folder.path, 'data'), MILLRACE_BACKUP_DIR: backups }
  mkdirSync(backups)
  writeFileSync(join(backups, 'backup-20260101T000000Z.tar.partial'), 'of another server')
  const states: string[] = []
  for (const [signal, waitMs] of [
    ['SIGKILL', 0],
    ['SIGTERM', 0],
    ['SIGKILL', 50],
    ['SIGKILL', 150],
  ] as const) {
    await using server = await ServerProcess.start(environment)
    const client = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
    const { file } = (await client.call('POST', '/v2/admin/backup')).json.backup
    await setTimeout(waitMs)
    server.signal(signal)
    await server.exited
    await using next = await ServerProcess.start(environment)
    const { info } = (await clientOf(next.url, PLAIN['MILLRACE_OWNER_TOKEN']!).call('GET', '/v2/admin/info')).json
    const isThere = readdirSync(backups).includes(file)
    expect(info.lastBackup).toEqual(
      isThere ? { file, state: 'done' } : { file, state: 'failed', reason: 'the server stopped during the backup' },
    )
    if (isThere) expect((await command(['doctor', join(backups, file)], {})).code).toBe(0)
    expect(readdirSync(backups).filter((name) => !NAME.test(name))).toEqual(['backup-20260101T000000Z.tar.partial'])
    states.push(info.lastBackup.state)
  }
  expect(states[0]).toBe('failed')
})

/** Nothing announces the end of a backup. */
async function ended(server: DevEnv): Promise<unknown> {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; await setTimeout(ASK_AGAIN_MS)) {
    const { lastBackup } = (await server.api('GET', '/v2/admin/info')).json.info
    if (lastBackup?.state !== 'running') return lastBackup
  }
  throw new Error('the backup did not end')
}
