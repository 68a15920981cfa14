import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, LEASE_MS, ok, send } from './cluster-under-test.ts'

/* The schema catalog of whole processes, over a real broker and a real Postgres. */

const SOURCES = 4
const NAMES = 5
const KILLS = 3

let cluster: ClusterUnderTest
let gateway: ServerProcess
let controls: readonly [ServerProcess, ServerProcess]
/** One counts, the other one stands by. */
let counting: ServerProcess[]
/** One in each partition. */
let sources: { readonly id: string; readonly writeKey: string }[]
/** Events of each source that were answered with 200. */
const accepted = new Map<string, number>()
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('catalog')
  controls = [await cluster.add({ MILLRACE_ROLES: 'control' }), await cluster.add({ MILLRACE_ROLES: 'control' })]
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  // The owner of a partition decides about its duplicates before they are counted.
  await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  counting = [await cluster.add({ MILLRACE_ROLES: 'catalog' }), await cluster.add({ MILLRACE_ROLES: 'catalog' })]
  sources = []
  for (let n = 0; n < SOURCES; n++) {
    sources.push((await ok(controls[0], 'POST', '/sources', { name: `Cinema ${n}`, type: 'HTTP' })).source)
  }
})
afterAll(() => cluster[Symbol.asyncDispose]())

test('two control processes answer the same exact counts, also of a backfill', async () => {
  // The gateway follows the new sources within a second.
  await expect.poll(() => accept(sources.at(-1)!, 1)).toBe(200)
  for (const source of sources) for (let n = 0; n < 10; n++) expect(await accept(source, 3)).toBe(200)
  const history = await fetch(`${gateway.url}/v1/backfill`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${sources[0]!.writeKey}:`).toString('base64')}` },
    body: JSON.stringify({ batch: events(2) }),
  })
  expect(history.status).toBe(200)
  note(sources[0]!, 2)
  for (const control of controls) await expect.poll(() => counts(control)).toEqual(Object.fromEntries(accepted))
  expect(await details(controls[0])).toEqual(await details(controls[1]))
})

test('a question sees what was accepted before it, within two seconds', async () => {
  for (let round = 0; round < 5; round++) {
    expect(await accept(sources[round % SOURCES]!, 1)).toBe(200)
    const acceptedAt = performance.now()
    await expect.poll(() => counts(controls[round % 2]!), { interval: 10 }).toEqual(Object.fromEntries(accepted))
    expect(performance.now() - acceptedAt).toBeLessThan(2_000)
  }
})

test('a holder that is killed under load leaves every count exact and every id as it was', async () => {
  const before = await ids(controls[0])
  for (let kill = 0; kill < KILLS; kill++) {
    const index = await holder()
    const isOver = new AbortController()
    const load = Promise.all(
      sources.map(async (source) => {
        while (!isOver.signal.aborted) expect(await accept(source, 4)).toBe(200)
      }),
    )
    const { change } = await state()
    await expect.poll(async () => (await state()).change, { timeout: 15_000 }).toBeGreaterThan(change)
    counting[index]!.signal('SIGKILL')
    await counting[index]!.exited
    // On an empty folder.
    counting[index] = await cluster.add({ MILLRACE_ROLES: 'catalog' })
    await holder()
    isOver.abort()
    await load
    for (const control of controls) {
      await expect.poll(() => counts(control), { timeout: 20_000 }).toEqual(Object.fromEntries(accepted))
    }
  }
  const after = await ids(controls[1])
  for (const [model, id] of Object.entries(before)) expect([model, after[model]]).toEqual([model, id])
  expect(await details(controls[0])).toEqual(await details(controls[1]))
})

test('a holder that was stopped for longer than its lease writes nothing afterwards', async () => {
  const index = await holder()
  const stopped = counting[index]!
  stopped.signal('SIGSTOP')
  for (const source of sources) expect(await accept(source, 5)).toBe(200)
  await expect.poll(holder, { timeout: 4 * LEASE_MS }).not.toBe(index)
  await expect.poll(() => counts(controls[0]), { timeout: 20_000 }).toEqual(Object.fromEntries(accepted))
  stopped.signal('SIGCONT')
  const lost = async () => /^millrace_lease_lost_total (\d+)$/m.exec(await metrics(stopped))?.[1]
  await expect.poll(lost).toBe('1')
  for (const source of sources) expect(await accept(source, 5)).toBe(200)
  for (const control of controls) await expect.poll(() => counts(control)).toEqual(Object.fromEntries(accepted))
  expect(await holder()).not.toBe(index)
})

test('a control process on an empty folder answers like the others', async () => {
  const late = await cluster.add({ MILLRACE_ROLES: 'control' })
  expect(await counts(late)).toEqual(Object.fromEntries(accepted))
  expect(await details(late)).toEqual(await details(controls[0]))
})

test('a rebuild counts the retained log anew, with the same ids', async () => {
  const before = await details(controls[0])
  const { change } = await state()
  const answer = await api(controls[0], 'POST', '/admin/rebuild-catalog')
  expect([answer.status, answer.body]).toEqual([202, { rebuild: { state: 'running' } }])
  for (const control of controls) await expect.poll(() => counts(control)).toEqual(Object.fromEntries(accepted))
  expect(await details(controls[1])).toEqual(before)
  expect((await state()).change).toBeGreaterThan(change + 1)
})

test('a purge removes the catalog of a source in every process', async () => {
  const [purged] = sources
  expect((await api(controls[0], 'DELETE', `/sources/${purged!.id}/catalog`)).status).toBe(204)
  accepted.delete(purged!.writeKey)
  for (const control of controls) expect(await counts(control)).toEqual(Object.fromEntries(accepted))
  const unknown = await api(controls[1], 'DELETE', '/sources/3iidO0kXIpgrmam9JhPLS2gpoVe/catalog')
  expect([unknown.status, unknown.body.error]).toEqual([404, 'Source with id 3iidO0kXIpgrmam9JhPLS2gpoVe not found'])
})

test('the status of the catalog, health and metrics are those of the role', async () => {
  const status = await schemas(controls[0], '/status')
  expect([status.LagEvents, status.LagSeconds, status.Positions.length]).toEqual([0, 0, 2 * SOURCES])
  const checks = async ({ url }: ServerProcess) =>
    ((await (await fetch(`${url}/health`)).json()) as { checks: Record<string, string> }).checks
  expect(await checks(counting[0]!)).toEqual({ config: 'ok', catalog: 'ok' })
  expect(await checks(controls[0])).toMatchObject({ schemas: 'ok' })
  const shown = await Promise.all(counting.map(metrics))
  // The figures of all processes may be added up: only the holder has them.
  expect(shown.filter((text) => text.includes('millrace_schema_cut_total'))).toHaveLength(1)
})

function events(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    type: 'track',
    event: `Seat ${n % NAMES}`,
    userId: 'u',
    properties: { hall: `h${n % 3}`, [`key${n % 4}`]: n },
  }))
}

/** @returns the status. */
async function accept(source: { readonly writeKey: string }, count: number): Promise<number> {
  const status = await send(gateway, source.writeKey, events(count))
  if (status === 200) note(source, count)
  return status
}

function note({ writeKey }: { readonly writeKey: string }, count: number): void {
  accepted.set(writeKey, (accepted.get(writeKey) ?? 0) + count)
}

// biome-ignore lint/suspicious/noExplicitAny: each call knows the form of its answer
async function schemas({ url }: ServerProcess, path: string): Promise<any> {
  const password = cluster.settings['SERVICE_ADMIN_PASSWORD']
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
  const answer = await fetch(`${url}/schemas${path}`, { headers: { authorization } })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

interface ShownModel {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventIdentifier: string
  readonly TotalCount: number
}

/** Events by write key. */
async function counts(control: ServerProcess): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const { WriteKey, TotalCount } of (await schemas(control, '/event-models')) as ShownModel[]) {
    sums[WriteKey] = (sums[WriteKey] ?? 0) + TotalCount
  }
  return sums
}

async function ids(control: ServerProcess): Promise<Record<string, string>> {
  const models = (await schemas(control, '/event-models')) as ShownModel[]
  return Object.fromEntries(
    models.map((each) => [`${each.WriteKey} ${each.EventIdentifier}`, `${each.ID} ${each.EventID}`]),
  )
}

async function details(control: ServerProcess): Promise<unknown[]> {
  const models = (await schemas(control, '/event-models')) as ShownModel[]
  const all: unknown[] = []
  for (const model of models) {
    const metadata = await schemas(control, `/event-model/${model.EventID}/metadata`)
    // The same ones, in the order in which they were counted.
    const samples = metadata.SampledEvents.map((event: object) => JSON.stringify(event)).toSorted()
    all.push(model, { ...metadata, SampledEvents: samples })
    all.push(await schemas(control, `/event-model/${model.EventID}/key-counts`))
  }
  return all
}

async function metrics({ url }: ServerProcess): Promise<string> {
  const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
  return (await fetch(`${url}/metrics`, { headers })).text()
}

/** Which of both counts, once one does. */
async function holder(): Promise<number> {
  let found = -1
  const look = async () => {
    const shown = await Promise.all(counting.map((server) => holds(server)))
    found = shown.indexOf(true)
    return found
  }
  await expect.poll(look, { timeout: 4 * LEASE_MS }).toBeGreaterThanOrEqual(0)
  return found
}

/** By its metrics; a stopped process gives none. */
async function holds(server: ServerProcess): Promise<boolean> {
  return Promise.race([
    metrics(server).then(
      (text) => text.includes('millrace_schema_cut_total'),
      () => false,
    ),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 500)),
  ])
}

async function state(): Promise<{ readonly change: number }> {
  await using pool = cluster.schema.pool()
  const [row] = await pool.query<{ change: number }>('SELECT change FROM catalog_state')
  return row!
}
