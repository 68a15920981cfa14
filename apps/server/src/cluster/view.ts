import type { ControlPlane } from '@millrace/control-plane'
import type { BudgetState, DeliveryStore } from '@millrace/delivery'
import type { PostgresDeliveryStore } from '@millrace/delivery/postgres'
import type { DestinationRegistry } from '@millrace/destinations'
import { type DeliveryCounts, DeliveryMetrics, deliveryRoutes, liveRoute } from '@millrace/pipeline'
import {
  budgetWarning,
  ClusterEventList,
  ClusterLive,
  DeadLetters,
  DeliveryStates,
  JobDesk,
  LogScan,
  partitionsOf,
  type SpannedConfiguration,
  StoredView,
} from '@millrace/pipeline/cluster'
import type { Clock } from '@millrace/std'
import type { Sandboxes } from '@millrace/transformations'
import { ofDestination, stateMetrics } from '../delivery-metrics.ts'
import { gauges } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import type { Part } from '../parts/part.ts'
import { shardDeps } from '../shard-deps.ts'
import type { ClusterEngines } from './engines.ts'
import { decodedState } from './shard-reports.ts'

/** Without a pipeline process the budget is not checked. */
const OLD_STATE_MS = 300_000

interface ClusterViewNeeds {
  readonly engines: ClusterEngines
  /** Without a fence: nothing here belongs to a shard. */
  readonly store: PostgresDeliveryStore
  readonly controlPlane: ControlPlane
  readonly configured: SpannedConfiguration
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Shows and steers the deliveries of the whole installation, from Kafka and Postgres alone. @see contracts/cluster.md §10 [K19] */
export interface ClusterView extends Part {
  follow(configured: SpannedConfiguration): Promise<void>
  readonly events: ClusterEventList
}

export function openClusterView(needs: ClusterViewNeeds): ClusterView {
  const { engines, store, controlPlane, configured, clock, logger } = needs
  const { log } = engines
  const deps = shardDeps(needs)
  const onThreadEnd = (error: Error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts')
  const metrics = new DeliveryMetrics()
  const ownersStates = async (ids: readonly string[]) =>
    (await store.figures.states(ids)).map((states) => states.map(decodedState))
  const view = new StoredView({
    ...{ log, store, metrics, clock, logger, configured, ownersStates },
    ...deps,
    // A look at an event is no run of it.
    userCode: { ...deps.userCode, capturesLogs: () => false },
    live: { isWatched: false, accepted: () => {}, outcome: () => {} },
  })
  const configuration = () => view.configured.configuration
  const events = new ClusterEventList({
    ...{ log, store, clock, onThreadEnd },
    shardOf: () => view,
    spans: () => view.configured.spans,
  })
  const states = new DeliveryStates({
    ...{ store, clock },
    counts: () => expiredCounts(store),
    states: async (ids) => {
      const [own, ofShards] = await Promise.all([view.states(ids), ownersStates(ids)])
      return own.map((atRest, i) => (atRest === undefined ? [] : [atRest, ...ofShards[i]!]))
    },
    destinationIds: () => configuration().destinations.keys(),
  })
  const scan = new LogScan(log, store, clock, onThreadEnd)
  const jobs = new JobDesk({
    ...{ log, store, clock, logger, scan, random: Math.random },
    isConnected: (sourceId, destinationId) =>
      [...configuration().connections.values()].some((each) => {
        return each.isEnabled && each.sourceId === sourceId && each.destinationId === destinationId
      }),
    partitionsOf: (sourceId) => {
      const source = configuration().sources.get(sourceId)
      return source === undefined ? [...Array(log.partitions).keys()] : partitionsOf(source, log)
    },
    destination: (id) => configuration().destinations.get(id),
    destinations: () => configuration().destinations.values(),
    onDiscarded: (id, count) => metrics.outcome(id, 'discarded', count),
    onFiltered: (id, count) => metrics.outcome(id, 'filtered', count),
  })
  const deadLetters = new DeadLetters(log, store.deadLetters, () => view)
  const live = new ClusterLive({
    ...{ log, clock, logger },
    outcomes: () => store.recentOutcomes(),
    duplicates: () => store.recentDuplicates(),
    destinationsOf: (sourceId, partition, offset) => view.destinationsOf(sourceId, partition, offset),
  })
  const trace: StoredView['trace'] = (messageId, asked) => view.trace(messageId, asked)
  return {
    role: 'control',
    events,
    follow: (next) => view.configure(next),
    v2Routes: [
      deliveryRoutes({ jobs, events, states, deadLetters, trace }),
      liveRoute(
        live.view,
        ({ actor }) => controlPlane.current(actor) !== undefined,
        () => live.begun(),
      ),
    ],
    // Open streams would keep the process from stopping.
    drain: async () => live.close(),
    checks: {
      readers: { trouble: () => events.trouble() ?? jobs.readerTrouble() },
      // Without Postgres, `database` says so.
      backlog: {
        trouble: () =>
          store.budget.state().then(
            (state) => backlogWarning(state, clock.now()),
            () => undefined,
          ),
      },
    },
    metrics: () => whileThere(() => installationMetrics(states, store, clock)),
    async [Symbol.asyncDispose]() {
      await live.close()
      await jobs.stop()
      await events.close()
      await view.close()
    },
  }
}

/** From 80 % of the storage budget: the used share and the largest destination. */
function backlogWarning(state: BudgetState | undefined, now: number): string | undefined {
  if (state === undefined || now - state.at > OLD_STATE_MS) return undefined
  return budgetWarning(state.used, state.maxBytes, state.largest ?? undefined)
}

/** What waits in the whole installation. */
async function installationMetrics(states: DeliveryStates, store: DeliveryStore, clock: Clock): Promise<string[]> {
  const letters = await store.deadLetters.countOpenByDestination()
  return [
    ...stateMetrics(await states.list(), clock.now()),
    gauges('millrace_dead_letters', 'Open dead letters.', letters.map(ofDestination)),
  ]
}

/** Without Postgres the metrics of this process are shown alone: those of its troubles are among them. */
async function whileThere(families: () => Promise<string[]>): Promise<string[]> {
  try {
    return await families()
  } catch (error) {
    if ((error as { code?: unknown }).code === 'postgres_unavailable') return []
    throw error
  }
}

/** Of the counts since the start, only the number of expired events is of the whole installation. */
async function expiredCounts(store: Pick<DeliveryStore, 'backlog'>): Promise<DeliveryCounts> {
  const counts = new DeliveryMetrics()
  for (const { destinationId, expired } of await store.backlog.byDestination()) {
    if (expired > 0) counts.outcome(destinationId, 'expired', expired)
  }
  return counts
}
