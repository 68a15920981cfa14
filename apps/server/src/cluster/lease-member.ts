import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresLeases } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import { total } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from '../parts/part.ts'
import { VERSION } from '../version.ts'
import { type ClusterEngines, type ClusterSettings, postgresOptions } from './engines.ts'

const JOINED_WITHIN_MS = 20_000

interface LeaseMemberNeeds {
  readonly settings: ClusterSettings
  readonly engines: Pick<ClusterEngines, 'control' | 'notifications'>
  /** Where people find this process. */
  readonly address: string
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** This process as a member that works under leases. */
export interface LeaseMember extends Part {
  readonly id: string
  readonly leases: PostgresLeases
  /** @throws if the process cannot join within 20 s. */
  joined(): Promise<void>
  /** Gives every lease back, within MILLRACE_SHUTDOWN_SECONDS: without Postgres the leases expire by themselves. */
  leave(): Promise<void>
}

/** Joins the members. @see contracts/cluster.md §4 [K8] */
export function joinWithLeases({ settings, engines, address, clock, logger }: LeaseMemberNeeds): LeaseMember {
  const id = randomUUID()
  const leases = new PostgresLeases({
    postgres: postgresOptions(settings, logger),
    ...{ notifications: engines.notifications, clock, leaseMs: settings.leaseMs, memberId: id },
    member: { roles: [...settings.roles], address, version: VERSION },
  })
  const leave = () => within(settings.shutdownMs, leases.leave())
  return {
    ...{ id, leases, leave },
    joined: () => joined(engines, id),
    metrics: () => [
      total('millrace_lease_lost_total', 'Leases that ended without being given back.', leases.counts().lost),
      total('millrace_fenced_total', 'Leases of which a refused write showed the loss.', leases.counts().fenced),
    ],
    [Symbol.asyncDispose]: leave,
  }
}

async function joined({ control }: Pick<ClusterEngines, 'control'>, memberId: string): Promise<void> {
  const deadline = performance.now() + JOINED_WITHIN_MS
  for (;;) {
    const rows = await control.query('SELECT 1 FROM member WHERE id = $1', [memberId])
    if (rows.length > 0) return
    if (performance.now() > deadline) throw new Error('this process could not join the members within 20 s')
    await delay(50)
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const end = new AbortController()
  await Promise.race([work, delay(ms, undefined, { signal: end.signal }).catch(() => {})])
  end.abort()
}
