import { setTimeout as delay } from 'node:timers/promises'
import { counted, type Run } from '../program.ts'
import { shuffled } from '../set-up.ts'
import type { Cluster } from './cluster.ts'
import type { Member, Role } from './member.ts'
import type { NetworkNamespace } from './private-network.ts'

/** A gateway answers within 10 s; its health names the trouble then. */
const TROUBLE_MS = 20_000
/** The longest time that a killed process stays away. In the full form some leases expire in that time. */
const AWAY_LEASES = { short: 0.3, full: 1.5 }

/** One way to break a running cluster, which is whole again afterwards. */
export interface Fault {
  readonly name: string
  /** How often it ends the work of a pipeline without order: what that one had not written is delivered again. */
  readonly interrupts: number
  happen(): Promise<void>
}

interface Ground {
  readonly run: Run
  readonly cluster: Cluster
  readonly leaseMs: number
}

/** kill -9 of the broker, of Postgres and of a process of each role, in random order. */
export function kills(ground: Ground, count: number): Fault[] {
  const { run, cluster, leaseMs } = ground
  const away = () => delay(run.random() * run.pick(AWAY_LEASES) * leaseMs)
  const pipelines = cluster.of('pipeline').length
  const ofRole = (role: Role): Fault => ({
    name: `kill -9 of a ${role}`,
    interrupts: role === 'pipeline' ? 1 : 0,
    async happen() {
      const members = cluster.of(role)
      const member = members[Math.floor(run.random() * members.length)]!
      await member.kill()
      await away()
      await member.start()
    },
  })
  const kinds: readonly Fault[] = [
    {
      name: 'kill -9 of the broker',
      interrupts: 0,
      async happen() {
        await cluster.broker.kill()
        await away()
        await cluster.broker.start()
      },
    },
    {
      name: 'kill -9 of Postgres',
      // Leases expire while it is away.
      interrupts: pipelines,
      async happen() {
        await cluster.postgres.kill()
        await away()
        await cluster.postgres.start()
      },
    },
    ...(['gateway', 'pipeline', 'catalog', 'control'] as const).map(ofRole),
  ]
  return shuffled(
    Array.from({ length: count }, (_, n) => kinds[n % kinds.length]!),
    run.random,
  )
}

/** SIGSTOP of a pipeline for twice its lease. It must drop its shards, or the fence must refuse what it writes. */
export function pause({ run, cluster, leaseMs }: Ground): Fault {
  const paused = cluster.named('pipeline 1')
  return {
    name: 'SIGSTOP of a pipeline',
    interrupts: 1,
    async happen() {
      const before = await lostLeases(paused)
      paused.product.signal('SIGSTOP')
      await delay(2 * leaseMs)
      paused.product.signal('SIGCONT')
      await run.eventually(
        async () => (await lostLeases(paused)) > before,
        leaseMs,
        () => 'a pipeline that stood still for twice its lease lost none of its leases',
      )
    },
  }
}

/** A pipeline that cannot reach Postgres for twice its lease: the other one takes its shards over. */
export function cutOffPipeline({ run, cluster, leaseMs }: Ground): Fault[] {
  const cutOff = cluster.named('pipeline 2')
  const other = cluster.named('pipeline 1')
  return whileCut(cutOff, 'a pipeline cut off from Postgres', 1, async (namespace) => {
    const before = await lostLeases(cutOff)
    const all = await owned(cluster)
    namespace.cut()
    const cutAt = performance.now()
    await run.eventually(
      async () => (await other.metric('millrace_shards_owned')) === all,
      1.25 * leaseMs + 2_000,
      () => 'the shards of a pipeline without Postgres were not taken over within the lease and a quarter',
    )
    run.check((await lostLeases(cutOff)) > before, 'a pipeline without Postgres kept its leases')
    await delay(Math.max(0, 2 * leaseMs - (performance.now() - cutAt)))
    namespace.mend()
  })
}

/** A gateway that cannot reach Kafka: it refuses, /health says so, and it accepts again by itself. */
export function cutOffGateway({ run, cluster }: Ground): Fault[] {
  const cutOff = cluster.named('gateway 2')
  return whileCut(cutOff, 'a gateway cut off from Kafka', 0, async (namespace) => {
    namespace.cut()
    await run.eventually(
      async () => /^503 .*"log"/s.test((await cutOff.trouble()) ?? ''),
      TROUBLE_MS,
      () => 'the health of a gateway without Kafka does not say so',
    )
    namespace.mend()
  })
}

/** Nothing on a machine that allows no namespaces. */
function whileCut(
  { namespace }: Member,
  name: string,
  interrupts: number,
  happen: (namespace: NetworkNamespace) => Promise<void>,
): Fault[] {
  return namespace === undefined ? [] : [{ name, interrupts, happen: () => happen(namespace) }]
}

/** Shards that have an owner. */
async function owned(cluster: Cluster): Promise<number> {
  const each = await Promise.all(cluster.of('pipeline').map((member) => member.metric('millrace_shards_owned')))
  return each.reduce((sum, count) => sum + count, 0)
}

async function lostLeases(member: Member): Promise<number> {
  const lost = await member.metric('millrace_lease_lost_total')
  return lost + (await member.metric('millrace_fenced_total'))
}

/** What was not written when a pipeline was interrupted, and calls in flight, per destination. */
const MAX_REPEATS = 1_000 + 100

/** @returns what is wrong with the repeats of one fault at one destination. */
export function tooManyRepeats({ name, interrupts }: Fault, repeats: number): string | undefined {
  return repeats <= interrupts * MAX_REPEATS ? undefined : `${counted(repeats, 'repeats')} after ${name}`
}
