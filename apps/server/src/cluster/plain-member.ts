import { randomUUID } from 'node:crypto'
import { Membership } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { ServerLogger } from '../logger.ts'
import { VERSION } from '../version.ts'
import type { ClusterEngines, ClusterSettings } from './engines.ts'

interface PlainMemberNeeds {
  readonly settings: ClusterSettings
  readonly engines: Pick<ClusterEngines, 'control'>
  /** Where people find this process. */
  readonly address: string
  readonly clock: Clock
  readonly logger: ServerLogger
}

/**
 * Makes a process that holds no leases a member: people see that it lives, and the rate limits of sources are divided by the number of
 * live gateways.
 *
 * @see contracts/cluster.md §3 [K14]
 */
export function joinWithoutLeases({ settings, engines, address, clock, logger }: PlainMemberNeeds): Membership {
  return new Membership({
    ...{ pool: engines.control, clock, leaseMs: settings.leaseMs, memberId: randomUUID(), logger },
    member: { roles: [...settings.roles], address, version: VERSION },
  })
}
