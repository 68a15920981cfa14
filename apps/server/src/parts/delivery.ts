import { type ControlPlane, MILLRACE } from '@millrace/control-plane'
import type { SharedTokens } from '@millrace/delivery'
import type { DestinationRegistry } from '@millrace/destinations'
import {
  DeliveryHost,
  deliveryRoutes,
  liveRoute,
  localShard,
  type OpenShards,
  type Pipeline,
  type RemoteShard,
} from '@millrace/pipeline'
import type { Clock } from '@millrace/std'
import type { Sandboxes } from '@millrace/transformations'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import { ofDestination, outcomeMetrics, stateMetrics } from '../delivery-metrics.ts'
import { deliveryThreads } from '../delivery-threads/delivery-threads.ts'
import { threadCount } from '../delivery-threads/thread-count.ts'
import type { Faults } from '../faults.ts'
import { gauges } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import { shardDeps, TRACES_KEPT_MS } from '../shard-deps.ts'
import type { StoragePart } from '../storage.ts'
import type { Part } from './part.ts'

interface DeliveryNeeds {
  readonly folder: DataFolder
  readonly settings: Settings
  readonly storage: Pick<StoragePart, 'log' | 'store' | 'catalog' | 'disk'>
  readonly controlPlane: ControlPlane
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
  readonly tokens: SharedTokens
  readonly faults: Faults
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Reads the log and delivers to the destinations. */
export interface DeliveryPart extends Part {
  readonly delivery: DeliveryHost<Pipeline | RemoteShard>
  /** Receives parsed records, if the shard on this thread can use them. */
  readonly parsed: Pipeline['parsed']
}

/** Resumes where the last run stopped, and follows configuration changes. */
export async function startDelivery(needs: DeliveryNeeds): Promise<DeliveryPart> {
  const { folder, settings, controlPlane, sandboxes, tokens, faults, clock, logger } = needs
  const { log, store, catalog, disk } = needs.storage
  const shared = { log, store, clock, random: Math.random, logger }
  const onThisThread = localShard({
    ...shared,
    ...shardDeps(needs),
    memoryBytes: settings.deliveryMemoryBytes,
  })
  const threads = threadCount(settings)
  const onThreads = deliveryThreads(threads, {
    ...{ folder, settings, log, store, controlPlane, sandboxes, tokens, faults, logger },
  })
  const openShards: OpenShards<Pipeline | RemoteShard> = (context) =>
    threads === 1 || context.recovery.isOneAtATime ? onThisThread(context) : onThreads(context)
  const delivery = await DeliveryHost.start<Pipeline | RemoteShard>({
    ...shared,
    openShards,
    configuration: controlPlane.snapshot(),
    traces: { keepMs: TRACES_KEPT_MS, maxBytes: settings.traceMaxBytes },
    logKeepMs: settings.logRetentionMs,
    otherReader: catalog,
    backlogMaxBytes: settings.backlogMaxBytes ?? Math.floor(disk.volumeBytes / 2),
    logMaxBytes: settings.logMaxBytes ?? Math.floor(disk.volumeBytes / 4),
    isDiskShort: () => disk.isShort,
    uncleanEnds: settings.uncleanEnds,
    tellExpired: (destinationId, count) => {
      const diff = [{ path: '/expired', from: null, to: count }]
      controlPlane.audit.done(MILLRACE, { action: 'expire', kind: 'destination', resourceId: destinationId, diff })
    },
  })
  controlPlane.attach({
    waiting: (scope) => delivery.waiting(scope),
    countByRules: (asked) => delivery.events.count(asked),
    changed: (_before, after) => delivery.configure(after),
  })
  return {
    role: 'pipeline',
    delivery,
    parsed: parsedBy(delivery.shards),
    v2Routes: [
      deliveryRoutes(delivery),
      liveRoute(delivery.live, ({ actor }) => controlPlane.current(actor) !== undefined),
    ],
    checks: {
      delivery: { trouble: () => delivery.trouble(), stops: 'routing' },
      backlog: { trouble: () => delivery.backlogWarning() },
      readers: { trouble: () => log.readerTrouble() ?? delivery.readerTrouble() },
    },
    metrics: async () => [
      ...outcomeMetrics(await delivery.counts()),
      ...stateMetrics(await delivery.states.list(), clock.now()),
      gauges(
        'millrace_dead_letters',
        'Open dead letters.',
        (await store.deadLetters.countOpenByDestination()).map(ofDestination),
      ),
    ],
    drain: (deadline) => delivery.stop(deadline),
    [Symbol.asyncDispose]: () => delivery.stop(Promise.resolve()),
  }
}

/** Threads parse the records themselves. */
function parsedBy(shards: readonly (Pipeline | RemoteShard)[]): Pipeline['parsed'] {
  const [shard] = shards
  return shard !== undefined && 'parsed' in shard ? shard.parsed : { keep: () => {}, drop: () => {} }
}
