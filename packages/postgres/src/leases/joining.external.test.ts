import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../migrations.ts'
import { PostgresNotifications } from '../postgres-notifications.ts'
import type { PostgresPool } from '../postgres-pool.ts'
import { realClock } from '../testing/real-clock.ts'
import { TestSchema } from '../testing/test-schema.ts'
import { LEASE_MS, RecordedWork } from './describe-leases.ts'
import { leaseSchema, lostLeases } from './lease-table.ts'
import type { Lease, Leases } from './leases.ts'
import { PostgresLeases } from './postgres-leases.ts'

const SHARDS = Array.from({ length: 24 }, (_, number) => number)
const MAX_MEMBERS = 6

let schema: TestSchema
let pool: PostgresPool
let notifications: PostgresNotifications

beforeAll(async () => {
  schema = await TestSchema.open('joining')
  pool = schema.pool()
  notifications = new PostgresNotifications({ ...schema, applicationName: 'test', clock: realClock })
  await migrate(pool, [leaseSchema])
  await pool.query('CREATE TABLE written (id bigserial PRIMARY KEY, shard integer, epoch bigint)')
})

afterAll(async () => {
  await notifications[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
  await schema[Symbol.asyncDispose]()
})

test('members join and leave 20 times under writes: only shards that must move do, and each has one writer', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const random = sequence(seed)
  const members: Member[] = [join(0)]
  await settled(members)
  for (let change = 1; change <= 20; change++) {
    const before = epochs(members)
    const isJoining = members.length === 1 || (members.length < MAX_MEMBERS && random() < 0.5)
    let mustMove: number
    if (isJoining) {
      const share = Math.ceil(SHARDS.length / (members.length + 1))
      mustMove = members.reduce((sum, { work }) => sum + Math.max(0, work.running.size - share), 0)
      members.push(join(change))
    } else {
      const [leaving] = members.splice(Math.floor(random() * members.length), 1)
      mustMove = leaving!.work.running.size
      await leaving!.leases.leave()
      expect(leaving!.work.aborted, `seed ${seed}, change ${change}`).toEqual([])
    }
    await settled(members)
    const after = epochs(members)
    const moved = SHARDS.filter((shard) => before.get(shard) !== after.get(shard))
    expect(moved.length, `seed ${seed}, change ${change}: moved ${moved}`).toBeLessThanOrEqual(mustMove)
  }
  await Promise.all(members.map(({ leases }) => leases.leave()))
  const rows = await pool.query<{ shard: number; epoch: number }>('SELECT shard, epoch FROM written ORDER BY id')
  for (const shard of SHARDS) {
    const written = rows.filter((row) => row.shard === shard).map(({ epoch }) => epoch)
    expect(written.length, `seed ${seed}, shard ${shard}`).toBeGreaterThan(0)
    expect(written, `seed ${seed}, shard ${shard}`).toEqual(written.toSorted((a, b) => a - b))
  }
})

interface Member {
  readonly leases: Leases
  readonly work: RecordedWork
}

function join(number: number): Member {
  const work = new RecordedWork()
  const writers = new Map<Lease, Promise<void>>()
  work.onStart = async (lease) => void writers.set(lease, write(lease))
  work.onStop = async (lease) => writers.get(lease)
  const leases = new PostgresLeases({
    postgres: { ...schema, applicationName: 'test', logger: { warn: () => {} } },
    notifications,
    clock: realClock,
    leaseMs: LEASE_MS,
    memberId: `member-${number}`,
    member: { roles: ['pipeline'], address: '', version: '1.0.0' },
  })
  leases.share(work, SHARDS)
  return { leases, work }
}

/** Writes until the lease ends, as fast as Postgres answers. */
async function write(lease: Lease): Promise<void> {
  while (lease.mayStart()) {
    await pool.transaction(async (queries) => {
      if ((await lostLeases(queries, [lease])).length > 0) throw new Error(`shard ${lease.number} has another owner`)
      await queries.run('INSERT INTO written (shard, epoch) VALUES ($1, $2)', [lease.number, lease.epoch])
    })
    await new Promise<void>((resolve) => realClock.setTimer(resolve, 20))
  }
}

/** Resolves when every shard has an owner, and no member has more than its share. */
async function settled(members: readonly Member[]): Promise<void> {
  const share = Math.ceil(SHARDS.length / members.length)
  const isSettled = () =>
    epochs(members).size === SHARDS.length && members.every(({ work }) => work.running.size <= share)
  await expect.poll(isSettled, { interval: 20 }).toBe(true)
}

/** The epoch of each shard: a shard that moved, even back to the same member, has another one. */
function epochs(members: readonly Member[]): Map<number, number> {
  return new Map(members.flatMap(({ work }) => [...work.epochs()]))
}

function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
