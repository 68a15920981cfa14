import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { clientOf } from '../e2e/client.ts'
import { PASSWORD, SchemaApi } from '../e2e/schema-catalog/schema-api.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/* contracts/schema-catalog.md §12 items 9, 11, 13: the process is killed from outside while events come in. */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const KILLS = Number(process.env['KILLS'] ?? 50)
const EVENTS = 10_000
const BATCH = 20
/** A start takes its time on a busy machine. */
const TIMEOUT_MS = 900_000
const NAMES = 5

test('kills at random moments leave every count exactly that of the events in the log, and ids as they were shown', {
  timeout: TIMEOUT_MS,
}, async () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const random = randomFrom(SEED)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-catalog-kill-'))
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, SERVICE_ADMIN_PASSWORD: PASSWORD }
  let server = await ServerProcess.start(environment)
  const { call } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { source } = (await call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const api = new SchemaApi({
    request: async (path, init) => {
      const answer = await fetch(server.url + path, init)
      const text = await answer.text()
      return { status: answer.status, text, json: JSON.parse(text) }
    },
  })

  /** Of each batch whether it was answered; one that broke off may be in the log all the same. */
  const answered = new Map<number, boolean>()
  const shown = new Map<string, string>()
  let next = 0
  const send = async (): Promise<void> => {
    const number = next++
    const batch = Array.from({ length: BATCH }, (_, i) => ({
      type: 'track',
      userId: 'u',
      event: `E${(number + i) % NAMES}`,
      messageId: `${number}.${i}`,
      properties: { batch: `b${number}`, [`k${i % 3}`]: i },
    }))
    answered.set(number, false)
    const answer = await fetch(`${server.url}/v1/batch`, {
      method: 'POST',
      body: JSON.stringify({ writeKey: source.writeKey, batch }),
    })
    await answer.text()
    answered.set(number, answer.status === 200)
  }
  const noteIds = async (): Promise<void> => {
    for (const { EventIdentifier, EventID, ID, CreatedAt } of await api.models(source.writeKey)) {
      const ids = `${ID} ${EventID} ${CreatedAt}`
      expect(shown.get(EventIdentifier) ?? ids).toBe(ids)
      shown.set(EventIdentifier, ids)
    }
  }

  for (let kill = 0; kill < KILLS; kill++) {
    const dies = setTimeout(random() * 400).then(() => server.signal('SIGKILL'))
    const sending = (async () => {
      for (let n = 0; n < EVENTS / BATCH / KILLS; n++) {
        await send()
        if (random() < 0.1) await noteIds()
      }
    })().catch((error: Error) => {
      if (!/fetch failed|terminated/.test(error.message)) throw error
    })
    await Promise.all([dies, sending])
    await server.exited
    server = await ServerProcess.start(environment)
  }
  while ([...answered.values()].filter((isAnswered) => isAnswered).length < EVENTS / BATCH) await send()

  // What is in the log, answered or not, is what counts.
  const events = await untilCounted(api)
  const batches = events / BATCH
  const sure = [...answered.values()].filter((isAnswered) => isAnswered).length
  process.stdout.write(`${sure} batches answered, ${batches} counted of ${answered.size}\n`)
  expect(batches).toBeGreaterThanOrEqual(sure)
  expect(batches).toBeLessThanOrEqual(answered.size)
  const stored = await storedBatches(server, source.id)
  for (const [number, isAnswered] of answered) if (isAnswered) expect(stored).toContain(number)
  expect(batches).toBe(stored.size)
  const models = await api.models(source.writeKey)
  for (const [i, model] of models.entries()) {
    const metadata = await api.metadata(model)
    expect(metadata.SampledEvents).toHaveLength(5)
    expect(metadata.TotalCount).toBe(model.TotalCount)
    const versions = await api.versions(model)
    expect(
      versions.reduce((sum, { TotalCount }) => sum + TotalCount, 0),
      `${i}`,
    ).toBe(model.TotalCount)
    expect((await api.keyCounts(model))['properties.batch']).toBe(model.TotalCount)
  }
  await noteIds()
  expect(await server.stop()).toBe(0)
  expect(server.stderr).not.toMatch(/"level":(50|60)/)
})

async function untilCounted(api: SchemaApi): Promise<number> {
  for (;;) {
    const { LagEvents } = await api.status()
    if (LagEvents === 0) break
    await setTimeout(50)
  }
  return (await api.models()).reduce((sum, { TotalCount }) => sum + TotalCount, 0)
}

/** Numbers of the batches that are in the log. */
async function storedBatches(server: ServerProcess, sourceId: string): Promise<Set<number>> {
  const { call } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const found = new Set<number>()
  for (let path = `/v2/events?sourceId=${sourceId}&limit=500`; path !== ''; ) {
    const { json } = await call('GET', path)
    for (const { messageId } of json.events) found.add(Number(messageId.split('.')[0]))
    path = json.paging.next
  }
  return found
}
