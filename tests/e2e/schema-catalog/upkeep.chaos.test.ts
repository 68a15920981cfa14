import { closeSync, copyFileSync, existsSync, openSync, writeSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import type { DevEnv } from '@millrace/dev-env'
import { expect, test } from 'vitest'
import { clientOf } from '../client.ts'
import { command } from '../command.ts'
import { PLAIN, ServerProcess } from '../server-process.ts'
import { type EventModel, openEnv, PASSWORD, SchemaApi } from './schema-api.ts'

/* contracts/schema-catalog.md §11: rebuilt, purged, with keys that change. */

const event = { type: 'track', userId: 'u', event: 'Kept', properties: { a: 'x' } }

async function send(env: DevEnv, writeKey: string, count: number, more: object = {}): Promise<void> {
  const batch = Array.from({ length: count }, (_, i) => ({ ...event, ...more, messageId: `${i}` }))
  expect((await env.send('/v1/batch', { batch }, writeKey)).status).toBe(200)
}

test('a rebuild counts each retained event once and keeps ids and times', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const { writeKey } = await env.source()
  await send(env, writeKey, 50)
  await send(env, writeKey, 30, { properties: { a: 1 } })
  const before = await api.counted(writeKey, 80)
  const versions = await api.versions(before[0]!)
  const metadata = await api.metadata(before[0]!)
  expect((await env.api('POST', '/v2/admin/rebuild-catalog')).status).toBe(202)
  await settled(api)
  expect(await api.counted(writeKey, 80)).toEqual(before)
  expect(await api.versions(before[0]!)).toEqual(versions)
  // The same events are the samples: which ones is decided by what is in the log alone.
  const again = await api.metadata(before[0]!)
  expect({ ...again, SampledEvents: ids(again.SampledEvents) }).toEqual({
    ...metadata,
    SampledEvents: ids(metadata.SampledEvents),
  })
  await send(env, writeKey, 1, { event: 'New' })
  const after = await api.counted(writeKey, 81)
  expect(after[1]!.ID).toBeGreaterThan(before[0]!.ID)
})

test('a damaged catalog stops nothing, says so, and is rebuilt', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-catalog-damage-'))
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, SERVICE_ADMIN_PASSWORD: PASSWORD }
  const token = PLAIN['MILLRACE_OWNER_TOKEN']!
  const first = await ServerProcess.start(environment)
  const { source } = (await clientOf(first.url, token).call('POST', '/v2/sources', { name: 'S', type: 'HTTP' })).json
  const sendTo = async (url: string) => {
    const body = JSON.stringify({ ...event, type: undefined, writeKey: source.writeKey })
    expect((await fetch(`${url}/v1/track`, { method: 'POST', body })).status).toBe(200)
  }
  await sendTo(first.url)
  expect(await first.stop()).toBe(0)
  const file = openSync(join(folder.path, 'catalog.db'), 'r+')
  writeSync(file, Buffer.alloc(100, 'damage'), 0, 100, 0)
  closeSync(file)

  await using server = await ServerProcess.start(environment)
  const { call } = clientOf(server.url, token)
  const api = new SchemaApi({
    request: async (path, init) => {
      const answer = await fetch(server.url + path, init)
      const text = await answer.text()
      return { status: answer.status, text, json: JSON.parse(text) }
    },
  })
  await sendTo(server.url)
  expect((await api.get('/schemas/event-models')).status).toBe(503)
  const { checks } = (await (await fetch(`${server.url}/health`)).json()) as { checks: { catalog: string } }
  expect(checks.catalog).toMatch(/not a database/)
  expect((await call('POST', '/v2/admin/rebuild-catalog')).status).toBe(202)
  const [model] = await api.counted(source.writeKey, 2)
  expect(model!.EventIdentifier).toBe('Kept')
  const setAside = join(folder.path, 'catalog.db.damaged')
  expect(existsSync(setAside)).toBe(true)
  expect((await call('DELETE', `/v2/sources/${source.id}/catalog`)).status).toBe(204)
  expect(existsSync(setAside)).toBe(false)
})

test('a catalog that is only locked is not thrown away by a rebuild', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-catalog-lock-'))
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, SERVICE_ADMIN_PASSWORD: PASSWORD }
  const token = PLAIN['MILLRACE_OWNER_TOKEN']!
  const first = await ServerProcess.start(environment)
  const { source } = (await clientOf(first.url, token).call('POST', '/v2/sources', { name: 'S', type: 'HTTP' })).json
  const body = JSON.stringify({ ...event, type: undefined, writeKey: source.writeKey })
  expect((await fetch(`${first.url}/v1/track`, { method: 'POST', body })).status).toBe(200)
  expect(await first.stop()).toBe(0)
  const file = join(folder.path, 'catalog.db')
  using lock = new DatabaseSync(file)
  lock.exec('BEGIN IMMEDIATE')

  await using server = await ServerProcess.start(environment)
  const { call } = clientOf(server.url, token)
  expect((await call('POST', '/v2/admin/rebuild-catalog')).status).toBe(503)
  lock.exec('ROLLBACK')
  expect((await call('POST', '/v2/admin/rebuild-catalog')).status).toBe(202)
  expect(existsSync(`${file}.damaged`)).toBe(false)
})

test('a purge removes what is known of a source, also of a deleted one, whose models stay until then', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const { id, writeKey } = await env.source()
  const other = await env.source()
  await send(env, writeKey, 3)
  await send(env, other.writeKey, 2)
  const [before] = await api.counted(writeKey, 3)
  await api.counted(other.writeKey, 2)
  expect((await env.api('DELETE', `/v2/sources/${id}`)).status).toBe(204)
  expect(await api.models(writeKey)).toEqual([before])
  expect((await env.api('DELETE', `/v2/sources/${id}/catalog`)).status).toBe(204)
  expect(await api.models(writeKey)).toEqual([])
  expect((await api.get(`/schemas/event-model/${before!.EventID}/metadata`)).status).toBe(404)
  expect(await api.models(other.writeKey)).toHaveLength(1)
  const { status, json } = await env.api('DELETE', '/v2/sources/unknown/catalog')
  expect([status, json.error]).toEqual([404, 'Source with id unknown not found'])
})

test('WriteKey is the current key, and takes those still in grace', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const { id, writeKey } = await env.source()
  await send(env, writeKey, 1)
  await api.counted(writeKey, 1)
  const { json } = await env.api('POST', `/v2/sources/${id}/rotate-write-key`, { graceHours: 1 })
  const current = json.source.writeKey
  const shown = async (key: string) => (await api.models(key)).map((model: EventModel) => model.WriteKey)
  expect(await shown(current)).toEqual([current])
  expect(await shown(writeKey)).toEqual([current])
  await env.api('POST', `/v2/sources/${id}/rotate-write-key`, { graceHours: 0 })
  expect(await shown(current)).toEqual([])
})

test('a backup that is restored goes on with exact counts, each event of its log once', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const { writeKey } = await env.source()
  await send(env, writeKey, 20)
  await api.counted(writeKey, 20)
  const { file } = (await env.api('POST', '/v2/admin/backup')).json.backup
  // Some of these are in the log of the backup, and some come too late for it.
  for (let n = 0; n < 5; n++) await send(env, writeKey, 4, { event: 'Meanwhile' })
  for (let state = 'running'; state === 'running'; await setTimeout(10)) {
    state = (await env.api('GET', '/v2/admin/info')).json.info.lastBackup.state
  }
  await using place = await mkdtempDisposable(join(tmpdir(), 'millrace-catalog-restored-'))
  const restored = join(place.path, 'data')
  const { code } = await command(['restore', join(env.folder, 'backups', file)], { MILLRACE_DATA_DIR: restored })
  expect(code).toBe(0)
  copyFileSync(join(env.folder, 'secret.key'), join(restored, 'secret.key'))
  await using other = await openEnv({ settings: { MILLRACE_DATA_DIR: restored } })
  const otherApi = new SchemaApi(other)
  await settled(otherApi)
  const [kept, meanwhile] = await otherApi.models(writeKey)
  const [before] = await api.models(writeKey)
  expect(kept).toEqual(before)
  let inLog = 0
  for (let path = '/v2/events?name=Meanwhile&limit=500'; path !== ''; ) {
    const { events, paging } = (await other.api('GET', path)).json
    inLog += events.length
    path = paging.next
  }
  expect(meanwhile?.TotalCount ?? 0).toBe(inLog)
  await send(other, writeKey, 5)
  await otherApi.counted(writeKey, 25 + inLog)
})

async function settled(api: SchemaApi): Promise<void> {
  for (let lag = 1; lag > 0; await setTimeout(10)) lag = (await api.status()).LagEvents
}

function ids(samples: readonly Record<string, unknown>[]): unknown[] {
  return samples.map(({ messageId, properties }) => `${messageId} ${JSON.stringify(properties)}`).sort()
}
