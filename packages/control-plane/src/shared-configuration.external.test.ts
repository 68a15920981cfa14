import { migrate, PostgresNotifications, type PostgresPool } from '@millrace/postgres'
import { PostgresServer } from '@millrace/postgres/local-server'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { ManualClock, systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { controlSchema, postgresControlStore } from './store/postgres-control-store.ts'
import { TestPlane } from './testing/test-plane.ts'

/* Several processes, each with a control plane, on one Postgres schema. */

let server: PostgresServer
let pool: PostgresPool
let notifications: PostgresNotifications

beforeAll(async () => {
  server = await PostgresServer.start()
  const schema = TestSchema.on(server, 'configuration')
  pool = schema.pool({ timeouts: { connectMs: 500 } })
  notifications = new PostgresNotifications({ ...schema, applicationName: 'test', clock: systemClock })
  await migrate(pool, [controlSchema])
})

afterAll(async () => {
  await notifications[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const openPlane = (hints: Pick<PostgresNotifications, 'on'> = notifications) =>
  TestPlane.open({ clock: systemClock, store: postgresControlStore(pool, hints) })

test.each([
  ['with notifications', () => notifications],
  ['without', () => silent],
])('a change takes effect in other processes within a second, %s', async (_, hints) => {
  await using changing = await openPlane()
  await using following = await openPlane(hints())
  const announced: number[] = []
  following.plane.onChange(({ revision }) => announced.push(revision))
  const source = await changing.source()
  const started = performance.now()
  await expect.poll(() => following.plane.snapshot().sources.has(source.id), { interval: 5 }).toBe(true)
  expect(performance.now() - started).toBeLessThan(1_000)
  expect(announced).toEqual([changing.plane.snapshot().revision])
  expect(following.plane.snapshot().revision).toBe(changing.plane.snapshot().revision)
})

test('a removed token is refused, and a lower role applies, in other processes', async () => {
  await using changing = await openPlane()
  await using following = await openPlane()
  const { token, accessToken } = await changing.ok('POST', '/v2/access-tokens', { name: 'ci', role: 'editor' })
  const status = async () => (await following.send('GET', '/v2/sources', { token })).status
  await expect.poll(status).toBe(200)
  const snapshot = following.plane.snapshot()
  await changing.ok('DELETE', `/v2/access-tokens/${accessToken.id}`)
  await expect.poll(status).toBe(401)
  expect(following.plane.snapshot(), 'accounts do not replace the configuration').toBe(snapshot)
})

test('a process that starts again with a replaced owner token does not bring it back', async () => {
  const [old, next] = ['old-token-of-the-owner-012345', 'next-token-of-the-owner-012345']
  await using own = TestSchema.on(server, 'owner').pool()
  await migrate(own, [controlSchema])
  const start = async (token: string) => {
    const store = postgresControlStore(own, silent)
    await using plane = await TestPlane.open({ clock: systemClock, store }, { owner: null })
    const { isReplaced } = await plane.plane.ensureOwner({ token })
    const status = async (of: string) => (await plane.send('GET', '/v2/me', { token: of })).status
    return [isReplaced, await status(old), await status(next)]
  }
  expect(await start(old)).toEqual([undefined, 200, 401])
  expect(await start(next)).toEqual([undefined, 401, 200])
  expect(await start(old)).toEqual([true, 401, 200])
  expect(await start(next)).toEqual([undefined, 401, 200])
})

test('what one process has made, another one changes and connects at once', async () => {
  await using making = await openPlane()
  await using changing = await openPlane(silent)
  for (let round = 0; round < 5; round++) {
    const source = await making.source()
    const destination = await making.destination()
    const ends = { sourceId: source.id, destinationId: destination.id }
    const { connection } = await changing.ok('POST', '/v2/connections', ends)
    await making.ok('DELETE', `/v2/connections/${connection.id}`)
    await changing.ok('PUT', `/v2/sources/${source.id}`, { name: `Renamed ${round}` })
  }
})

test('writes of several processes at once are all decided on the newest state, and none is lost', async () => {
  const planes = await Promise.all([openPlane(), openPlane(), openPlane()])
  const before = planes[0].plane.snapshot().sources.size
  const answers = await Promise.all(
    planes.flatMap((plane, process) =>
      Array.from({ length: 12 }, (_, n) =>
        plane.send('POST', '/v2/sources', { body: { name: `Kiosk ${process} ${n}`, type: 'HTTP' } }),
      ),
    ),
  )
  expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([])
  const made = answers.filter(({ status }) => status === 200).map(({ body }) => body.source.id as string)
  expect(made.length).toBeGreaterThan(12)
  for (const { plane } of planes) {
    await expect.poll(() => made.every((id) => plane.snapshot().sources.has(id))).toBe(true)
    expect(plane.snapshot().sources.size).toBe(before + made.length)
  }
  const created = [...planes[0].plane.snapshot().sources.values()].map(({ createdAt }) => createdAt)
  expect(created, 'the order of creation is the order of commits').toEqual(created.toSorted((a, b) => a - b))
  for (const plane of planes) await plane[Symbol.asyncDispose]()
})

test('resources that another process did not change stay the same objects', async () => {
  await using changing = await openPlane()
  await using following = await openPlane()
  const [source, destination] = [await changing.source(), await changing.destination()]
  await expect.poll(() => following.plane.snapshot().destinations.has(destination.id)).toBe(true)
  const before = following.plane.snapshot()
  await changing.ok('PATCH', `/v2/sources/${source.id}`, { name: 'Renamed' })
  await expect.poll(() => following.plane.snapshot()).not.toBe(before)
  const after = following.plane.snapshot()
  expect(after.destinations.get(destination.id)).toBe(before.destinations.get(destination.id))
  expect(after.sources.get(source.id)).not.toBe(before.sources.get(source.id))
})

test('eight sources made one after the other, by two processes, lie in eight partitions', async () => {
  await using one = await openPlane()
  await using other = await openPlane()
  for (const { id } of one.plane.sources.list()) await one.ok('DELETE', `/v2/sources/${id}`)
  for (let n = 0; n < 8; n++) await (n % 2 === 0 ? one : other).source({ name: `Cinema ${n}` })
  await expect.poll(() => one.plane.sources.list().length).toBe(8)
  expect(one.plane.sources.list().map(({ partition }) => partition)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('what the delivery side stores with a change is stored with it and its audit entry, or nothing is', async () => {
  await pool.query('CREATE TABLE beside (revision bigint PRIMARY KEY, ends text NOT NULL)')
  await using one = await openPlane()
  await using other = await openPlane()
  let fault: 'before' | 'inside' | undefined
  for (const { plane, deliveries } of [one, other]) {
    plane.attach({
      waiting: (scope) => deliveries.waiting(scope),
      countByRules: (asked) => deliveries.countByRules(asked),
      changed: (before, after) => deliveries.changed(before, after),
      async beside({ revision, sources }) {
        if (fault === 'before') throw new Error('the log does not answer')
        return async (queries) => {
          await queries.run('INSERT INTO beside VALUES ($1, $2)', [revision, `${sources.size} sources`])
          const [row] = await queries.rows<{ revision: number }>('SELECT revision FROM workspace')
          expect(row, 'it sees the change').toEqual({ revision })
          if (fault === 'inside') throw new Error('refused')
        }
      },
    })
  }
  const first = one.plane.snapshot().revision
  await Promise.all([one, other].flatMap((plane) => [plane.source({ name: 'A' }), plane.source({ name: 'B' })]))
  const stored = async () => (await pool.query<{ revision: number }>('SELECT revision FROM beside ORDER BY 1')).length
  expect(await stored()).toBe(4)
  await expect.poll(() => [one, other].map(({ plane }) => plane.snapshot().revision)).toEqual([first + 4, first + 4])

  for (fault of ['before', 'inside'] as const) {
    const audited = (await one.ok('GET', '/v2/audit-log')).entries.length
    expect((await one.send('POST', '/v2/sources', { body: { name: 'C', type: 'HTTP' } })).status).toBe(503)
    expect([await stored(), (await one.ok('GET', '/v2/audit-log')).entries.length]).toEqual([4, audited])
    expect(one.plane.snapshot().revision).toBe(first + 4)
  }
  fault = undefined
  await one.source({ name: 'C' })
  expect(await stored()).toBe(5)
  // Accounts are no configuration.
  await one.token('viewer')
  expect(await stored()).toBe(5)
})

test('while Postgres is away the last snapshot stays, with its age, and writes answer 503; then all goes on', async () => {
  await using plane = await openPlane()
  const source = await plane.source()
  expect(plane.plane.snapshotAgeMs()).toBeLessThan(1_000)
  await server.kill()
  await expect.poll(() => plane.plane.snapshotAgeMs()).toBeGreaterThan(2_000)
  expect(plane.plane.snapshot().sources.has(source.id)).toBe(true)
  expect((await plane.send('GET', `/v2/sources/${source.id}`)).status).toBe(200)
  expect((await plane.send('POST', '/v2/sources', { body: { name: 'Late', type: 'HTTP' } })).status).toBe(503)
  expect(plane.logged.filter((line) => line.includes('the last one stays'))).toHaveLength(1)
  await server.start()
  await expect.poll(() => plane.plane.snapshotAgeMs()).toBeLessThan(1_000)
  await plane.source({ name: 'After' })
})

test('a process without Postgres does not start', async () => {
  await using nowhere = TestSchema.on({ url: 'postgres://postgres@127.0.0.1:1/postgres' }, 'nowhere').pool()
  const opening = TestPlane.open({ store: postgresControlStore(nowhere, silent), clock: new ManualClock(0) })
  await expect(opening).rejects.toThrow('Postgres does not answer')
})

/** As behind a pooler that loses notifications. */
const silent = { on: () => () => {} }
