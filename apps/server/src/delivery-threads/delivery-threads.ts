import { MessageChannel } from 'node:worker_threads'
import type { ControlPlane } from '@millrace/control-plane'
import { newSharedLimits, SharedMemoryBudget, type SharedTokens, type SqliteDeliveryStore } from '@millrace/delivery'
import type { SqliteEventLog } from '@millrace/log'
import { type HostCalls, type OpenShards, RemoteShard, type ShardContext, type Watched } from '@millrace/pipeline'
import { answerCalls, type Logger } from '@millrace/std'
import type { Sandboxes } from '@millrace/transformations'
import type { Settings } from '../config/settings.ts'
import type { DataFolder } from '../data-folder/data-folder.ts'
import type { Faults } from '../faults.ts'
import type { ShardThreadData } from './delivery-thread.ts'

interface ThreadNeeds {
  readonly folder: DataFolder
  readonly settings: Settings
  readonly log: SqliteEventLog
  readonly store: SqliteDeliveryStore
  readonly controlPlane: ControlPlane
  readonly sandboxes: Sandboxes
  /** The access tokens of the process. */
  readonly tokens: SharedTokens
  readonly faults: Faults
  readonly logger: Logger
}

/**
 * Starts delivery threads, which own the partitions by turns: thread 2 of 4 owns 1, 5, 9 and 13.
 *
 * @param count 2 or more.
 * @see contracts/delivery.md §11a [D654]
 */
export function deliveryThreads(count: number, needs: ThreadNeeds): OpenShards<RemoteShard> {
  return async (context) => {
    const { log, controlPlane } = needs
    const shared = {
      memory: SharedMemoryBudget.of(needs.settings.deliveryMemoryBytes),
      limits: new LimitsByDestination(),
    }
    const watched = () => watchedNow(context, controlPlane)
    const shards = await allOrNone(
      Array.from({ length: count }, (_, i) => {
        const partitions = [...Array(log.partitions).keys()].filter((partition) => partition % count === i)
        return startThread({ number: i + 1, count }, partitions, watched(), shared, context, needs)
      }),
    )
    const tellAll = () => {
      const now = watched()
      for (const shard of shards) shard.watch(now)
    }
    context.live.onWatched = tellAll
    context.delivered.onWatched = tellAll
    controlPlane.onChange(tellAll)
    log.onDamage((partition, range) => {
      for (const shard of shards) shard.noteDamage(partition, range)
    })
    return shards
  }
}

/** They start at the same time, each on a processor of its own. If one cannot start, the others stop. */
async function allOrNone(starts: readonly Promise<RemoteShard>[]): Promise<RemoteShard[]> {
  const results = await Promise.allSettled(starts)
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return started
  await Promise.allSettled(started.map((shard) => shard.stop(Promise.resolve())))
  throw failed.reason
}

/** What all threads share. */
interface Shared {
  readonly memory: SharedMemoryBudget
  readonly limits: LimitsByDestination
}

/** The memory of the limits of each destination, which lasts as long as the destination. */
class LimitsByDestination {
  #known = new Map<string, SharedArrayBuffer>()

  of(destinationIds: Iterable<string>): ReadonlyMap<string, SharedArrayBuffer> {
    this.#known = new Map([...destinationIds].map((id) => [id, this.#known.get(id) ?? newSharedLimits()]))
    return this.#known
  }
}

function startThread(
  { number, count }: { readonly number: number; readonly count: number },
  partitions: readonly number[],
  watched: Watched,
  shared: Shared,
  { configuration, live, delivered, onReplayEnded }: ShardContext,
  needs: ThreadNeeds,
): Promise<RemoteShard> {
  const { folder, settings, log, store, controlPlane, faults, logger } = needs
  const { egressAllow, egressDeny, egressProxy, host, httpTimeoutMs } = settings
  const { isDestinationCatalogOn, destinationCatalogWorkers, destinationCatalogMemoryMb } = settings
  const data: ShardThreadData = {
    settings: {
      ...{ egressAllow, egressDeny, egressProxy, host, httpTimeoutMs },
      ...{ isDestinationCatalogOn, destinationCatalogWorkers, destinationCatalogMemoryMb },
    },
    threads: count,
    log: log.share(),
    store: store.connect(),
    host: hostPort(needs),
    memory: shared.memory.memory,
    verifiedFile: folder.file('verified-types'),
  }
  const transfer = [data.log.port, data.store, data.host]
  return RemoteShard.start(
    { partitions, watched, configuration },
    {
      thread: { file: new URL('./delivery-thread.ts', import.meta.url), data, transfer },
      number,
      limitsOf: (destinationIds) => shared.limits.of(destinationIds),
      live,
      delivered,
      onReplayEnded,
      onLoggedLine: (transformationId, line) => controlPlane.logLines.add(transformationId, [line]),
      onDamage: (offset) => {
        log.inspect(offset).catch((error: Error) => logger.error({ err: error }, 'the log cannot be read'))
      },
      onFault: (error) => faults.report(`Delivery thread ${number} ended`, error),
      logger,
    },
  )
}

/** Answers a delivery thread. */
function hostPort({ sandboxes, controlPlane, tokens }: ThreadNeeds) {
  const { port1, port2 } = new MessageChannel()
  const calls: HostCalls = {
    runCode: (run) => sandboxes.runPacked({ ...run, credentials: controlPlane.credentials.values() }),
    takeToken: (request) => tokens.take(request),
    putToken: (result) => tokens.put(result),
  }
  answerCalls(calls, port1, 'as they come')
  // The port must not keep a process alive that has stopped.
  port1.unref()
  return port2
}

function watchedNow({ live, delivered }: ShardContext, controlPlane: ControlPlane): Watched {
  const transformations = [...controlPlane.snapshot().transformations.values()]
  return {
    live: live.isWatched,
    delivered: delivered.isWatched,
    capturing: transformations.filter(({ captureLogs }) => captureLogs).map(({ id }) => id),
  }
}
