import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../local-server/postgres-server.ts'
import { migrate } from '../migrations.ts'
import { PostgresNotifications } from '../postgres-notifications.ts'
import type { PostgresPool } from '../postgres-pool.ts'
import { realClock } from '../testing/real-clock.ts'
import { TestSchema } from '../testing/test-schema.ts'
import { describeLeases, LEASE_MS, type LeaseCluster, RecordedWork } from './describe-leases.ts'
import { addLeases, claim, leaseSchema, lostLeases } from './lease-table.ts'
import type { HeldLease, Leases } from './leases.ts'
import { PostgresLeases } from './postgres-leases.ts'
import { liveMembers } from './stored-leases.ts'

describeLeases('Postgres', () => PostgresCluster.open(TestSchema.open('leases')))

/** On a server that this test may stop. */
let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server[Symbol.asyncDispose]())

test('without Postgres a member starts nothing after three quarters of the lease and drops all at its end; then it works again', async () => {
  await using cluster = await PostgresCluster.open(TestSchema.on(server, 'away'))
  const leases = cluster.join()
  const work = new RecordedWork()
  leases.share(work, [1, 2])
  await expect.poll(() => work.running.size).toBe(2)
  const [lease] = leases.held('shard')
  const stopped = performance.now()
  await server.stop()
  await expect.poll(() => lease!.mayStart(), { interval: 5 }).toBe(false)
  expect(performance.now() - stopped).toBeLessThan((LEASE_MS * 3) / 4 + 500)
  expect(leases.trouble()).toBeUndefined()
  expect(lease!.signal.aborted).toBe(false)
  await expect.poll(() => work.running.size, { interval: 5 }).toBe(0)
  expect(performance.now() - stopped).toBeLessThan(LEASE_MS + 500)
  expect(leases.counts().lost).toBe(2)
  await expect.poll(() => leases.trouble()).toMatch(/^no lease was renewed for [3-9] s: Postgres does not answer/)
  await server.start()
  await expect
    .poll(() => [...work.epochs()])
    .toEqual([
      [1, lease!.epoch + 1],
      [2, lease!.epoch + 1],
    ])
  expect(leases.trouble()).toBeUndefined()
  await leases.leave()
})

test('a short absence of Postgres loses no lease', async () => {
  await using cluster = await PostgresCluster.open(TestSchema.on(server, 'restart'))
  const leases = cluster.join()
  const work = new RecordedWork()
  leases.share(work, [1, 2])
  await expect.poll(() => work.running.size).toBe(2)
  await server.kill()
  await server.start()
  await expect.poll(() => leases.held('shard').every((lease) => lease.mayStart())).toBe(true)
  expect([...work.epochs().values()]).toEqual([1, 1])
  expect(leases.counts().lost).toBe(0)
  await leases.leave()
})

test('a member without leases that leaves is no member any more', async () => {
  await using cluster = await PostgresCluster.open(TestSchema.on(server, 'idle'))
  const leases = cluster.join()
  await expect.poll(() => cluster.members()).toBe(1)
  await leases.leave()
  expect(await cluster.members()).toBe(0)
})

test('writes under an epoch never come after writes under a later one, however claims and writes race', async () => {
  await using schema = await TestSchema.open('race')
  await using pool = schema.pool()
  await migrate(pool, [leaseSchema])
  await pool.query('CREATE TABLE written (at bigserial PRIMARY KEY, epoch bigint)')
  await addLeases(pool, 'shard', [1])
  let isOver = false
  let refusals = 0
  const written = new Set<number>()
  const write = async () => {
    while (!isOver) {
      const [lease] = await pool.query<HeldLease>('SELECT kind, number, epoch FROM lease')
      await pool.transaction(async (queries) => {
        const lost = await lostLeases(queries, [lease!])
        refusals += lost.length
        if (lost.length > 0) return
        await queries.rows('SELECT pg_sleep(0.002 * random())')
        await queries.run('INSERT INTO written (epoch) VALUES ($1)', [lease!.epoch])
        written.add(lease!.epoch)
      })
    }
  }
  const writers = [1, 2, 3].map(write)
  // Each claim is over at once, so the next one may claim again. Most find a writer inside.
  while (written.size < 25 || refusals === 0) {
    await claim(pool, { owner: 'member', leaseMs: 0 }, 'shard', [1], 1)
  }
  isOver = true
  await Promise.all(writers)
  const rows = await pool.query<{ epoch: number }>('SELECT epoch FROM written ORDER BY at')
  const epochs = rows.map(({ epoch }) => epoch)
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
  expect(new Set(epochs).size).toBeGreaterThanOrEqual(25)
})

class PostgresCluster implements LeaseCluster {
  readonly #schema: TestSchema
  readonly #pool: PostgresPool
  readonly #notifications: PostgresNotifications
  #members = 0

  private constructor(schema: TestSchema) {
    this.#schema = schema
    // The tests hold transactions open for longer.
    this.#pool = schema.pool({ timeouts: { idleInTransactionMs: 10_000 } })
    this.#notifications = new PostgresNotifications({ ...schema, applicationName: 'test', clock: realClock })
  }

  static async open(schema: TestSchema | Promise<TestSchema>): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(await schema)
    await migrate(cluster.#pool, [leaseSchema])
    await cluster.#pool.query('CREATE TABLE written (at bigserial PRIMARY KEY, text text NOT NULL)')
    return cluster
  }

  async members(): Promise<number> {
    return (await liveMembers(this.#pool)).length
  }

  join(): Leases {
    const { url, schema } = this.#schema
    return new PostgresLeases({
      postgres: { url, schema, applicationName: 'test', logger: { warn: () => {} } },
      notifications: this.#notifications,
      clock: realClock,
      leaseMs: LEASE_MS,
      memberId: `member-${++this.#members}`,
      member: { roles: ['pipeline'], address: '127.0.0.1:8080', version: '1.0.0' },
    })
  }

  write(held: readonly HeldLease[], text: string, inside = async () => {}): Promise<readonly HeldLease[]> {
    return this.#pool.transaction(async (queries) => {
      const lost = await lostLeases(queries, held)
      await inside()
      if (lost.length === 0) await queries.run('INSERT INTO written (text) VALUES ($1)', [text])
      return lost
    })
  }

  async written(): Promise<string[]> {
    const rows = await this.#pool.query<{ text: string }>('SELECT text FROM written ORDER BY at')
    return rows.map(({ text }) => text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#notifications[Symbol.asyncDispose]()
    await this.#pool[Symbol.asyncDispose]()
    await this.#schema[Symbol.asyncDispose]()
  }
}
