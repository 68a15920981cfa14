import { type ControlPlane, type SourceType, sourceClass } from '@millrace/control-plane'
import type { DestinationRegistry } from '@millrace/destinations'
import type { ShardDeps } from '@millrace/pipeline'
import type { Sandboxes } from '@millrace/transformations'
import type { OutboundClients } from './outbound-clients.ts'
import { VERSION } from './version.ts'

/** Age at which traces are removed: seven days. */
export const TRACES_KEPT_MS = 168 * 3_600_000

interface ShardNeeds {
  readonly controlPlane: ControlPlane
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
}

/** What shards take from the other parts of the server. It is the same over SQLite and in a cluster. */
export function shardDeps({ controlPlane, registry, sandboxes, outbound }: ShardNeeds) {
  return {
    random: Math.random,
    findModule: (type) => registry.find(type),
    sourceClass: (type) => sourceClass(type as SourceType),
    newClient: (bounds) => outbound.make(bounds),
    userCode: {
      run: (run) => sandboxes.run(run),
      credentials: () => controlPlane.credentials.values(),
      capturesLogs: (id) => controlPlane.snapshot().transformations.get(id)?.captureLogs === true,
      onLog: (id, line) => controlPlane.logLines.add(id, [line]),
    },
    userAgent: `Millrace/${VERSION}`,
  } satisfies Partial<ShardDeps>
}
