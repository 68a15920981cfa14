import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { clientOf } from '../client.ts'
import { PLAIN, ServerProcess } from '../server-process.ts'
import { openEnv, PASSWORD, SchemaApi } from './schema-api.ts'

test('10: an event is visible in all six endpoints within a second of its 200', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const { writeKey } = await env.source()
  await env.send('/v1/track', { userId: 'u', event: 'Seen', messageId: 'first', properties: { a: 1 } }, writeKey)
  // A deadline of the contract, with what a busy machine of tests may add.
  const [model] = await api.counted(writeKey, 1, 5_000)
  const [version] = await api.versions(model!)
  expect(version!.TotalCount).toBe(1)
  for (const of of [model!, version!]) {
    const { TotalCount, SampledEvents, FrequentValues } = await api.metadata(of)
    expect(TotalCount).toBe(1)
    expect(SampledEvents[0]!['messageId']).toBe('first')
    expect(FrequentValues['properties.a']).toEqual([{ Value: '1', Frequency: 1 }])
  }
  expect(await api.keyCounts(model!)).toMatchObject({ 'properties.a': 1 })
  expect(await api.missingKeys(version!)).toEqual([])
  const { LagEvents, LagSeconds, Positions } = await api.status()
  expect({ LagEvents, LagSeconds }).toEqual({ LagEvents: 0, LagSeconds: 0 })
  expect(Positions).toEqual(Array.from({ length: 16 }, (_, partition) => `${partition}-1`))
})

test('27: refused events, duplicates, events of a replay and of the Test API change nothing; those of a backfill count once', async () => {
  await using env = await openEnv()
  const api = new SchemaApi(env)
  const source = await env.source({ config: { dedupWindowSeconds: 60 } })
  env.sink.answer = () => ({ status: 400 })
  const { destinationId } = await env.webhook({ source })
  const { writeKey } = source
  const event = { type: 'track', userId: 'u', event: 'Once', messageId: 'm-1' }
  expect((await env.send('/v1/track', event, writeKey)).status).toBe(200)
  expect((await env.send('/v1/track', event, writeKey)).status).toBe(200)
  expect(
    (await env.send('/v1/batch', { batch: [event, { ...event, messageId: 'm-2' }, event] }, writeKey)).status,
  ).toBe(200)
  expect((await env.send('/v1/track', { event: 'Refused' }, writeKey)).status).toBe(400)
  expect((await env.send('/v1/track', { ...event, event: 'Unknown key' }, 'unknown')).status).toBe(401)
  expect((await env.send('/v1/backfill', { batch: [{ ...event, messageId: 'm-3' }] }, writeKey)).status).toBe(200)
  await env.journey('m-1', 'dead_lettered')
  const { json } = await env.api('GET', '/v2/dead-letters')
  env.sink.answer = () => ({})
  await env.api('POST', `/v2/dead-letters/${json.deadLetters[0].id}/replay`, {})
  await env.sink.waitFor(4)
  const stage = { user_transform: true, dest_transform: true, send_to_destination: true }
  const message = { ...event, event: 'Tested' }
  expect((await env.api('POST', `/v0/testDestination/${destinationId}`, { message, stage })).status).toBe(200)
  const models = await api.counted(writeKey, 3)
  expect(models.map(({ EventIdentifier }) => EventIdentifier)).toEqual(['Once'])
  expect((await api.status()).LagEvents).toBe(0)
})

test('10, 28: while the reader is kept out every event is accepted and the lag grows; afterwards all are counted', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-catalog-lag-'))
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, SERVICE_ADMIN_PASSWORD: PASSWORD }
  const before = await ServerProcess.start(environment)
  const first = clientOf(before.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { source } = (await first.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  expect(await before.stop()).toBe(0)

  const keptOut = new DatabaseSync(join(folder.path, 'catalog.db'))
  keptOut.exec('BEGIN IMMEDIATE')
  await using server = await ServerProcess.start(environment)
  const send = (event: string) =>
    fetch(`${server.url}/v1/track`, {
      method: 'POST',
      body: JSON.stringify({ writeKey: source.writeKey, userId: 'u', event }),
    })
  for (let n = 0; n < 40; n++) expect((await send(`E${n % 2}`)).status).toBe(200)
  const api = new SchemaApi({
    request: async (path, init) => {
      const answer = await fetch(server.url + path, init)
      const text = await answer.text()
      return { status: answer.status, text, json: JSON.parse(text) }
    },
  })
  const lag = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^millrace_schema_lag_seconds (\S+)$/m.exec(text)![1])
  }
  const earlier = await lag()
  await setTimeout(20)
  expect(await lag()).toBeGreaterThan(earlier)
  const refused = await api.get('/schemas/event-models')
  expect([refused.status, refused.text]).toEqual([503, '{"msg":"Service unavailable"}\n'])
  const { checks } = (await (await fetch(`${server.url}/health`)).json()) as { checks: { catalog: string } }
  expect(checks.catalog).toMatch(/locked/)

  keptOut.close()
  for (let status = 503; status !== 200; await setTimeout(50)) ({ status } = await api.get('/schemas/status'))
  const models = await api.counted(source.writeKey, 40)
  expect(models.map(({ TotalCount }) => TotalCount)).toEqual([20, 20])
  expect((await api.status()).LagSeconds).toBeLessThan(1)
})
