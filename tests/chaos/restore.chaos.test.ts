import { copyFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { type Client, clientOf } from '../e2e/client.ts'
import { command } from '../e2e/command.ts'
import { Arrivals, Load } from '../e2e/load.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/*
 * quality.md R12, shortened; contracts/control-plane.md §12 item 31: the process is backed up under load, while connections
 * are made and disabled, and the backup is restored into an empty folder.
 */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!
const TRACED = 200
const LISTS = ['/v2/sources', '/v2/users', '/v2/credentials']

test('a backup under load, restored into an empty folder, has all configuration and delivers whatever was not delivered', {
  timeout: 60_000,
}, async () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const random = randomFrom(SEED)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-backup-'))
  const first = join(folder.path, 'first')
  const second = join(folder.path, 'second')
  await using sink = await Sink.open()
  const open = new Arrivals()
  const held = new Arrivals()
  let isHeld = true
  sink.answer = (request) => {
    sink.clear()
    if (request.path.startsWith('/open')) open.note(request)
    if (!request.path.startsWith('/held')) return {}
    if (isHeld) return new Promise<never>(() => {})
    held.note(request)
    return {}
  }

  const original = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: first })
  await using _original = original
  const client = clientOf(original.url, TOKEN)
  const { source } = (await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const destination = (name: string, path: string) => connect(client, source.id, name, `${sink.url}${path}`)
  await destination('Open', '/open')
  await destination('Held', '/held')
  await client.call('PUT', '/v2/credentials/geo_api', { value: 'canary-of-a-credential' })
  await client.call('POST', '/v2/users', { email: 'ada@cinema.example', role: 'editor' })

  const load = new Load(4, () => ({ url: original.url, writeKey: source.writeKey }))
  await load.reached(500 + Math.floor(random() * 1_000))
  const acknowledged = [...load.acknowledged]
  const begun = await client.call('POST', '/v2/admin/backup')
  expect(begun.status).toBe(202)
  const { file } = begun.json.backup
  for (let made = 0; (await lastBackup(client)).state === 'running'; made++) {
    if (made >= 20) continue
    const connection = await destination(`Late ${made}`, '/late')
    await setTimeout(random() * 20)
    if (random() < 0.5) await client.call('PATCH', `/v2/connections/${connection.id}`, { enabled: false })
  }
  expect(await lastBackup(client)).toEqual({ file, state: 'done' })
  await load.reached(load.acknowledged.length + 100)
  await load.stop()

  // Those around the backup, where configuration and log have to fit each other.
  const traced = load.acknowledged.slice(acknowledged.length - TRACED / 2, acknowledged.length + TRACED / 2)
  const before = await Promise.all(traced.map((messageId) => destinationsOf(client, messageId)))
  const lists = await Promise.all(LISTS.map(async (path) => (await client.call('GET', path)).json))
  original.signal('SIGKILL')
  await original.exited

  const env = { MILLRACE_DATA_DIR: second }
  const restored = await command(['restore', join(first, 'backups', file)], env)
  expect(restored).toMatchObject({ code: 0, err: '' })
  const [, shown] = /up to ([\d,]+) events to Held/.exec(restored.out)!
  expect(Number(shown!.replace(',', ''))).toBeGreaterThanOrEqual(acknowledged.length)
  expect(restored.out).toContain(`put it at ${join(second, 'secret.key')}`)

  const keyless = new ServerProcess({ ...PLAIN, ...env })
  expect(await keyless.exited).toBe(1)
  expect(keyless.stderr).toContain('secret.key is missing')
  copyFileSync(join(first, 'secret.key'), join(second, 'secret.key'))
  isHeld = false
  await using copy = await ServerProcess.start({ ...PLAIN, ...env })
  const other = clientOf(copy.url, TOKEN)
  await sink.until(() => held.hasAll(acknowledged), 'all that was acknowledged before the backup', 30_000)
  expect(open.hasAll(acknowledged)).toBe(true)
  expect(held.outOfOrder()).toEqual([])

  const kept = (await other.call('GET', '/v2/destinations?limit=500')).json.destinations
  const known = new Set(kept.map(({ id }: { id: string }) => id))
  expect(known.size).toBeGreaterThanOrEqual(2)
  const after = await Promise.all(traced.map((messageId) => destinationsOf(other, messageId)))
  let compared = 0
  for (const [i, ids] of after.entries()) {
    // What came after the log was copied is not in the backup.
    if (ids === undefined) continue
    expect(ids, traced[i]).toEqual(before[i]!.filter((id) => known.has(id)))
    compared++
  }
  expect(compared).toBeGreaterThanOrEqual(TRACED / 2)

  for (const [i, path] of LISTS.entries()) expect((await other.call('GET', path)).json, path).toEqual(lists[i])
  expect(await copy.stop()).toBe(0)
  expect(copy.stderr).not.toMatch(/"level":(50|60)/)
})

test('restored without its log, a server delivers what comes next, also of users whose events waited', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-backup-'))
  const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')]
  await using sink = await Sink.open()
  sink.answer = ({ json }) => ({ status: json.userId === 'waits' ? 500 : 200 })
  let file: string
  let writeKey: string
  {
    await using original = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: first })
    const client = clientOf(original.url, TOKEN)
    const { source } = (await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
    const { destinationId } = await connect(client, source.id, 'Hook', sink.url)
    writeKey = source.writeKey
    const track = (messageId: string, userId: string) => sendEvent(original.url, writeKey, messageId, userId)
    await track('m-1', 'waits')
    await client.untilOutcome('m-1', destinationId, 'retrying')
    await track('m-2', 'waits')
    for (let i = 0; i < 20; i++) await track(`m-delivered-${i}`, 'other')
    await client.untilOutcome('m-delivered-19', destinationId, 'delivered')
    file = (await client.call('POST', '/v2/admin/backup', { log: false })).json.backup.file
    await untilEnded(client)
  }
  expect((await command(['restore', join(first, 'backups', file)], { MILLRACE_DATA_DIR: second })).code).toBe(0)
  copyFileSync(join(first, 'secret.key'), join(second, 'secret.key'))
  sink.clear()
  sink.answer = () => ({})
  await using copy = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: second })
  // More than there were: none of them may be taken for one that has its outcome already.
  for (let i = 0; i < 30; i++) await sendEvent(copy.url, writeKey, `n-${i}`, i % 2 === 0 ? 'waits' : 'other')
  const received = await sink.waitFor(30)
  const messageIds = received.map(({ json }) => json.messageId)
  expect(messageIds.sort()).toEqual(Array.from({ length: 30 }, (_, i) => `n-${i}`).sort())
})

async function sendEvent(url: string, writeKey: string, messageId: string, userId: string): Promise<void> {
  const body = JSON.stringify({ messageId, userId, event: 'x' })
  const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` }
  const { status } = await fetch(`${url}/v1/track`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`${messageId} was answered ${status}`)
}

async function untilEnded(client: Client): Promise<void> {
  while ((await lastBackup(client)).state === 'running') await setTimeout(5)
}

async function connect({ call }: Client, sourceId: string, name: string, webhookUrl: string) {
  const { destination } = (await call('POST', '/v2/destinations', { name, type: 'WEBHOOK', config: { webhookUrl } }))
    .json
  return (await call('POST', '/v2/connections', { sourceId, destinationId: destination.id })).json.connection
}

async function lastBackup({ call }: Client) {
  return (await call('GET', '/v2/admin/info')).json.info.lastBackup
}

/** Where an event goes or went; undefined if it is not known. */
async function destinationsOf({ call }: Client, messageId: string): Promise<string[] | undefined> {
  const { json } = await call('GET', `/v2/events/${encodeURIComponent(messageId)}`)
  const journeys: { destinationId: string }[] | undefined = json?.events?.[0]?.destinations
  return journeys?.map(({ destinationId }) => destinationId).sort()
}
