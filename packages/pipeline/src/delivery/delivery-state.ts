import { type BacklogRow, type DeliveryStore, recentPercentiles } from '@millrace/delivery'
import { formatTime } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { ShardState } from '../host/shard.ts'
import type { DeliveryCounts } from './delivery-metrics.ts'
import { toldWaiting } from './why-waiting.ts'

const HOUR_MS = 3_600_000

export interface StateSources {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly counts: () => Promise<DeliveryCounts>
  /** Parallel to the ids: the state in each shard; empty for unknown destinations. */
  readonly states: (destinationIds: readonly string[]) => Promise<readonly (readonly ShardState[])[]>
  /** Destinations of the configuration, ordered by creation. */
  readonly destinationIds: () => Iterable<string>
}

export type DeliveryState = Awaited<ReturnType<typeof deliveryState>>

/** Counts and states of destinations, over all shards. */
export class DeliveryStates {
  readonly #sources: StateSources

  constructor(sources: StateSources) {
    this.#sources = sources
  }

  /** Ordered by creation. */
  ids(): string[] {
    return [...this.#sources.destinationIds()]
  }

  /** @returns undefined if the id is unknown. */
  async of(destinationId: string): Promise<DeliveryState | undefined> {
    const [state] = await this.list([destinationId])
    return state
  }

  /** Counts for the destinations that exist. */
  async list(destinationIds: readonly string[] = this.ids()): Promise<DeliveryState[]> {
    const { states: statesOf, store, counts } = this.#sources
    const [backlog, { outcomes }, parts] = await Promise.all([
      store.backlog.byDestination(),
      counts(),
      statesOf(destinationIds),
    ])
    const states: DeliveryState[] = []
    for (const [i, id] of destinationIds.entries()) {
      const ofDestination = parts[i]!
      if (ofDestination.length === 0) continue
      const open = backlog.find(({ destinationId }) => destinationId === id) ?? NO_BACKLOG
      const expired = outcomes.get(id)?.get('expired') ?? 0
      states.push(await deliveryState(ofDestination, open, expired, this.#sources))
    }
    return states
  }
}

const NO_BACKLOG = { letters: 0, letterBytes: 0 }

/**
 * The answer of GET /v2/destinations/{id}/delivery.
 *
 * @param parts its state in each shard.
 * @param open number of its open dead letters.
 * @see contracts/delivery.md §8 [D630]
 */
async function deliveryState(
  parts: readonly ShardState[],
  open: Pick<BacklogRow, 'letters' | 'letterBytes'>,
  expired: number,
  { store, clock }: StateSources,
) {
  const { destinationId } = parts[0]!
  const now = clock.now()
  const sum = (read: (part: ShardState) => number) => parts.reduce((total, part) => total + read(part), 0)
  // The shards share one outage, and the last failure stands where a call was made.
  const troubled = parts.find(({ state, failure }) => state !== 'ok' && failure !== undefined)
  const wait = parts.find((part) => part.wait !== undefined)?.wait
  const oldest = Math.min(...parts.map(({ oldestPendingAt }) => oldestPendingAt))
  const hottest = parts.flatMap(({ hotId }) => hotId ?? []).sort((a, b) => b.waiting - a.waiting)[0]
  return {
    destinationId,
    state: parts.find(({ state }) => state !== 'ok')?.state ?? 'ok',
    statusText: troubled?.failure ?? null,
    pending: sum(({ pending }) => pending),
    retrying: sum(({ retrying }) => retrying),
    throttled: sum(({ throttled }) => throttled),
    blockedEvents: sum(({ blockedEvents }) => blockedEvents),
    blockedUsers: sum(({ blockedUsers }) => blockedUsers),
    hotId: hottest ?? null,
    concurrency: Math.max(...parts.map(({ concurrency }) => concurrency)),
    waiting: wait === undefined ? null : toldWaiting(wait, now),
    oldestPendingAt: oldest === Number.POSITIVE_INFINITY ? null : formatTime(oldest),
    delivered24h: await store.outcomes.deliveredSince({ destinationId, hour: Math.floor(now / HOUR_MS) - 23 }),
    deadLettersOpen: open.letters,
    expired,
    backlogBytes: sum(({ waitingBytes }) => waitingBytes) + open.letterBytes,
    latencyMs: recentPercentiles(parts.map(({ recentDurations }) => recentDurations)),
  }
}
