import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { assertHeld, lostLeases } from '../leases/lease-table.ts'
import type { Lease } from '../leases/leases.ts'
import { PostgresLeases } from '../leases/postgres-leases.ts'
import { SingleTask } from '../leases/single-task.ts'
import { PostgresNotifications } from '../postgres-notifications.ts'
import { PostgresPool } from '../postgres-pool.ts'
import { realClock } from './real-clock.ts'

/*
 * A member of a cluster, until it is killed or gets SIGTERM. For each shard that it holds, it writes a row
 * (shard, epoch, member) into `written` every 20 ms, fenced. Arguments: url, schema, id of the member, number of
 * shards, lease in ms, and a mode: `pause` waits inside each transaction; `zombie` goes on writing under every lease
 * that it ever had; `task` runs a single task beside, which writes such rows as shard 0. It prints what happens to its leases:
 * `start <shard> <epoch>`, `stop …`, `abort …`, `fenced <shard>` for a refused write, and `ran …` for each run of the task.
 */
const [url, schema, memberId, shards, leaseMs, mode] = process.argv.slice(2) as [string, string, ...string[]]
const postgres = { url, schema, applicationName: memberId!, logger: { warn: () => {} } }
const pool = new PostgresPool({ ...postgres, connections: 8 })
const notifications = new PostgresNotifications({ ...postgres, clock: realClock })
const leases = new PostgresLeases({
  postgres,
  notifications,
  clock: realClock,
  leaseMs: Number(leaseMs),
  memberId: memberId!,
  member: { roles: ['pipeline'], address: 'test', version: '1.0.0' },
})
const writers = new Map<Lease, Promise<void>>()

const task = new SingleTask({
  ...{ kind: 'task', role: 'pipeline', intervalMs: 20, clock: realClock, logger: { warn: () => {} } },
  async run(lease) {
    await pool.transaction(async (queries) => {
      await assertHeld(queries, lease)
      const row = [lease.number, lease.epoch, memberId]
      await queries.run('INSERT INTO written (shard, epoch, member) VALUES ($1, $2, $3)', row)
    })
    tell('ran', lease)
  },
})
if (mode === 'task') task.share(leases)

leases.share(
  {
    kind: 'shard',
    role: 'pipeline',
    async start(lease) {
      tell('start', lease)
      lease.signal.addEventListener('abort', () => tell('abort', lease))
      writers.set(lease, write(lease))
    },
    async stop(lease) {
      await writers.get(lease)
      tell('stop', lease)
    },
  },
  Array.from({ length: Number(shards) }, (_, number) => number),
)

process.on('SIGTERM', async () => {
  await leases.leave()
  await notifications[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
})

async function write(lease: Lease): Promise<void> {
  // Writes as long as its own clock lets it, and not a moment less: the fence must refuse the rest.
  while (mode === 'zombie' || lease.mayStart()) {
    try {
      const lost = await pool.transaction(async (queries) => {
        const lost = await lostLeases(queries, [lease])
        if (mode === 'pause') {
          tell('inside', lease)
          await delay(1_000)
        }
        if (lost.length === 0) {
          const row = [lease.number, lease.epoch, memberId]
          await queries.run('INSERT INTO written (shard, epoch, member) VALUES ($1, $2, $3)', row)
        }
        return lost
      })
      if (lost.length > 0) {
        tell('fenced', lease)
        leases.refused(lost)
      }
    } catch {
      tell('failed', lease)
    }
    await delay(20)
  }
}

function tell(what: string, { number, epoch }: Lease): void {
  writeSync(1, `${what} ${number} ${epoch}\n`)
}
