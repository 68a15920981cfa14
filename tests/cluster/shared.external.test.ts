import { deleteRecords } from '@millrace/log/testing/delete-records'
import { Sink } from '@millrace/pipeline/testing/sink'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { OAuthServer } from '../oauth-server.ts'
import { api, ClusterUnderTest, connected, event, ok, send } from './cluster-under-test.ts'

/* What each process shows of all others. */

let cluster: ClusterUnderTest
let one: ServerProcess
let other: ServerProcess
let gateway: ServerProcess
let worker: ServerProcess
let sink: Sink
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('shared')
  one = await cluster.add({ MILLRACE_ROLES: 'control' })
  other = await cluster.add({ MILLRACE_ROLES: 'control' })
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  worker = await cluster.add({ MILLRACE_ROLES: 'gateway,pipeline' })
  sink = await Sink.start()
}, 60_000)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  sink.close()
})

test('every control process lists all processes that live, with their roles and shards', async () => {
  await connected(one, sink.url, 'Owned')
  const rolesOf = async (server: ServerProcess) => {
    const { processes } = (await ok(server, 'GET', '/admin/info')).info
    return Object.fromEntries(processes.map(({ address, roles }: Living) => [address, roles.toSorted()]))
  }
  const all = {
    [addressOf(one)]: ['control'],
    [addressOf(other)]: ['control'],
    [addressOf(gateway)]: ['gateway'],
    [addressOf(worker)]: ['gateway', 'pipeline'],
  }
  for (const server of [one, other]) {
    await expect.poll(() => rolesOf(server)).toEqual(all)
    const { processes } = (await ok(server, 'GET', '/admin/info')).info
    const owners = processes.filter(({ shards }: Living) => shards > 0)
    expect(owners.map(({ address }: Living) => address)).toEqual([addressOf(worker)])
  }
})

interface Living {
  readonly address: string
  readonly roles: string[]
  readonly shards: number
}

function addressOf({ url }: ServerProcess): string {
  return url.replace('http://', '')
}

test('requests that any gateway refuses are listed by every control process, newest first, also after the gateway has ended', async () => {
  const { source } = await connected(one, sink.url)
  // Until it follows the configuration, the worker refuses the key.
  await expect.poll(() => send(worker, source.writeKey, [event('r-2')])).toBe(200)
  expect(await send(gateway, 'unknown-key', [event('r-1')])).toBe(401)
  expect(await send(worker, source.writeKey, [])).toBe(400)
  const texts = async (server: ServerProcess, query = '') => {
    const { refusals } = await ok(server, 'GET', `/refusals${query}`)
    return refusals.map(({ text, keyStart }: { text: string; keyStart: string }) => [text, keyStart])
  }
  const unknown = ['Invalid Write Key', 'unkn']
  const empty = ['Empty batch payload', source.writeKey.slice(0, 4)]
  const all = () => Promise.all([one, other].map(async (server) => (await texts(server)).slice(0, 2)))
  await expect.poll(all).toEqual([
    [empty, unknown],
    [empty, unknown],
  ])
  expect(await texts(other, `?sourceId=${source.id}`)).toContainEqual(empty)
  expect(await texts(other, `?sourceId=${source.id}`)).not.toContainEqual(unknown)
  expect(await gateway.stop()).toBe(0)
  expect(await texts(one)).toContainEqual(unknown)
})

test('a thousand refused requests are kept over all gateways', async () => {
  for (let n = 0; n < 1_010; n += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => send(worker, `${n + i}-none`, [event('x')])))
  }
  const known = async () => (await ok(one, 'GET', '/refusals')).refusals
  await expect.poll(async () => (await known()).length, { timeout: 10_000 }).toBe(1_000)
  await expect.poll(async () => (await known())[0].keyStart).toMatch(/^100\d$/)
})

test('lines that user code logs in a pipeline are shown by every control process', async () => {
  const { source, destination } = await connected(one, sink.url, 'Logging')
  const code = 'export function transformEvent(event) { log("seen", event.messageId); return event }'
  const { transformation } = await ok(one, 'POST', '/transformations?publish=true', {
    ...{ name: 'Logs', code, captureLogs: true },
  })
  await ok(one, 'PATCH', `/destinations/${destination.id}`, { transformationIds: [transformation.id] })
  const logs = async (server: ServerProcess) =>
    (await ok(server, 'GET', `/transformations/${transformation.id}/logs`)).logs
  let n = 0
  // Until the pipeline follows the configuration.
  await expect
    .poll(async () => {
      await send(worker, source.writeKey, [event(`logged-${n++}`)])
      return (await logs(other)).length
    })
    .toBeGreaterThan(0)
  const [line] = await logs(other)
  expect(line).toMatchObject({ destinationId: destination.id, line: expect.stringMatching(/seen.*logged-\d+/) })
  expect(await logs(one)).toContainEqual(line)
})

test('an authorization that one control process began is finished by another, once, and its secret is not readable in Postgres', async () => {
  await using service = await OAuthServer.open()
  const redirectUri = `${other.url}/ui/oauth`
  service.redirectUris.add(redirectUri)
  const config = {
    instanceUrl: service.origin,
    oauthClientId: service.clientId,
    oauthClientSecret: service.clientSecret,
  }
  const begin = { type: 'SALESFORCE', config, redirectUri }
  const { url, state } = await ok(one, 'POST', '/destinations/authorization', begin)
  await using pool = cluster.schema.pool()
  const stored = JSON.stringify(await pool.query('SELECT digest::text, actor, sealed FROM pending_authorization'))
  expect(stored).toContain('sealed')
  for (const secret of [service.clientSecret, state]) expect(stored).not.toContain(secret)

  const back = await service.allow(url)
  const finish = { state, code: back.searchParams.get('code')! }
  const finished = await ok(other, 'POST', '/destinations/authorization/finish', finish)
  expect(finished).toEqual({ refreshToken: service.refreshToken, error: null })
  const again = await api(one, 'POST', '/destinations/authorization/finish', finish)
  expect([again.status, again.body.error]).toEqual([
    400,
    'The authorization is unknown or older than 10 minutes: start it again',
  ])
})

test('/v2/admin/info tells how far back a Postgres backup reaches: as far as the topics do', async () => {
  const from = async () => (await ok(one, 'GET', '/admin/info')).info.postgresBackupsFrom
  expect(await from()).toBeNull()
  const { source } = await connected(one, sink.url, 'Kept')
  await expect.poll(() => send(worker, source.writeKey, [event('cut')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('cut')
  const position = async () => (await api(one, 'GET', '/events/cut')).body.events?.[0]?.position
  await expect.poll(position).toMatch(/^\d-0-0$/)
  const partition = Number((await position()).split('-')[0])
  const topic = `${cluster.schema.schema}.live`
  await deleteRecords({ brokers: cluster.kafka.addresses }, systemClock, { topic, index: partition, before: 1 })
  await expect.poll(from).not.toBeNull()
  // Seven days of retention: what was deleted by age is older.
  expect(Date.now() - Date.parse(await from())).toBeGreaterThan(167 * 3_600_000)
})
