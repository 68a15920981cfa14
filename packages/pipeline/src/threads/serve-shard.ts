import { type ConnectedDeliveryStore, openSharedLimits } from '@millrace/delivery'
import type { ThreadEventLog } from '@millrace/log'
import { answerCalls, notifyCaller, type PortCalls } from '@millrace/std'
import { packedEvents } from '@millrace/transformations/payload'
import { deliveryOf } from '../delivery/delivered-listeners.ts'
import { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { Configuration } from '../following/configuration.ts'
import { Pipeline } from '../pipeline.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import type { LiveUserCodeAccess } from '../stages/live-user-code.ts'
import { LiveNotices } from './live-notices.ts'
import { withKnownObjects } from './plain-configuration.ts'
import type { HostCalls, ShardCalls, ShardNotice, ShardStart, SharedLimits, Watched } from './shard-calls.ts'

export interface ServedShard
  extends Omit<
    ShardDeps,
    'log' | 'store' | 'metrics' | 'live' | 'userCode' | 'limitsOf' | 'onDelivered' | 'onReplayEnded'
  > {
  readonly log: ThreadEventLog
  readonly store: ConnectedDeliveryStore
  /** The main thread. */
  readonly host: Pick<PortCalls<HostCalls>, 'call'>
  /** Called after the shard has stopped. */
  readonly close: () => Promise<void>
}

const NO_CREDENTIALS: ReadonlyMap<string, string> = new Map()

/** Tells the main thread something unasked. */
export function tellHost(notice: ShardNotice): void {
  notifyCaller(notice)
}

/**
 * Makes this thread a delivery thread: it runs one shard, which is the same class as on the main thread.
 *
 * @see contracts/delivery.md §11a
 */
export function serveShard(served: ServedShard): void {
  const { log, store, clock, host, close } = served
  const live = new LiveNotices(clock, (notices, skipped) => tellHost({ kind: 'live', notices, skipped }))
  const deadline = Promise.withResolvers<void>()
  let watched: Watched = { live: false, delivered: false, capturing: [] }
  let shard: Pipeline | undefined
  let known: Configuration | undefined
  let limits: SharedLimits = new Map()

  const userCode: LiveUserCodeAccess = {
    run: ({ credentials: _, events, ...run }) =>
      host.call('runCode', { ...run, count: events.length, texts: packedEvents(events) }),
    credentials: () => NO_CREDENTIALS,
    capturesLogs: (transformationId) => watched.capturing.includes(transformationId),
    onLog: (transformationId, line) => tellHost({ kind: 'logged line', transformationId, line }),
  }
  const watch = (now: Watched) => {
    watched = now
    live.isWatched = now.live
  }
  const start = async ({ number, partitions, configuration, limits: shared, watched: first }: ShardStart) => {
    watch(first)
    limits = shared
    known = configuration
    shard = await Pipeline.start({
      ...served,
      partitions,
      configuration,
      live,
      userCode,
      limitsOf: (destinationId) => openSharedLimits(limits.get(destinationId)!, number - 1),
      metrics: new DeliveryMetrics(),
      onDelivered: (event, destination, status, durationMs) => {
        if (!watched.delivered) return
        tellHost({ kind: 'delivered', delivery: deliveryOf(event, destination, status, durationMs) })
      },
      onReplayEnded: (jobId, destinationId) => tellHost({ kind: 'replay ended', jobId, destinationId }),
    })
  }
  const stop = async () => {
    await shard!.stop(deadline.promise)
    const figures = { counts: { ...(await shard!.counts()) }, activity: await shard!.activity() }
    await store.close()
    log.close()
    await close()
    return figures
  }

  const calls: ShardCalls = {
    start,
    watch,
    stop,
    abortCalls: () => deadline.resolve(),
    noteDamage: ({ partition, range }) => log.noteDamage(partition, range),
    load: () => shard!.load(),
    resumed: () => shard!.resumed(),
    configure: ({ configuration, ends, limits: shared }) => {
      limits = shared
      known = withKnownObjects(known!, configuration)
      return shard!.configure({ configuration: known, ends })
    },
    waiting: (scope) => shard!.waiting(scope),
    trace: (asked) => shard!.trace(asked),
    outcomesNow: (events) => shard!.outcomesNow(events),
    renderedRequest: (letter) => shard!.renderedRequest(letter),
    states: (destinationIds) => shard!.states(destinationIds),
    activity: (destinationIds) => shard!.activity(destinationIds),
    counts: async () => ({ ...(await shard!.counts()) }),
    needs: (request) => shard!.needs(request),
    keepUnfinished: (range) => shard!.keepUnfinished(range),
    pruneSpans: (keptFrom) => shard!.pruneSpans(keptFrom),
    waitingShares: () => shard!.waitingShares(),
    waitingBytes: () => shard!.waitingBytes(),
    expireWaiting: (request) => shard!.expireWaiting(request),
    takeReplayed: (take) => shard!.takeReplayed(take),
    abandonTakes: (jobId) => shard!.abandonTakes(jobId),
    resumeReplayed: (waits) => shard!.resumeReplayed(waits),
    deliverLetters: (letters) => shard!.deliverLetters(letters),
    withdrawReplayed: (jobId) => shard!.withdrawReplayed(jobId),
    flush: () => shard!.flush(),
    trouble: () => shard!.trouble(),
  }
  answerCalls(calls, undefined, 'as they come')
}
