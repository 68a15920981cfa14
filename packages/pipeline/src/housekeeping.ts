import type { DeliveryStore } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import type { Clock, Logger, Timer } from '@millrace/std'
import type { PartitionNeeds } from './host/shard.ts'

const INTERVAL_MS = 60_000
const HOUR_MS = 3_600_000
/** After a jump of the wall clock, nothing is deleted by age for this long. */
const SUSPENSION_MS = 24 * HOUR_MS

export interface HousekeepingOptions {
  readonly log: EventLog
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly logger: Logger
  readonly logKeepMs: number
  readonly traces: { readonly keepMs: number; readonly maxBytes: number }
  /**
   * What the log must keep, by partition; drops records of the backlog that are no longer needed.
   *
   * @param writesIndex writes the message index, so that it needs nothing more from the log.
   */
  readonly needs: (writesIndex: boolean) => Promise<readonly PartitionNeeds[]>
  /** Removes spans before these offsets, by partition. */
  readonly pruneSpans: (keptFrom: readonly number[]) => Promise<void>
}

/**
 * Once a minute: deletes log segments that are finished and old enough, and old traces.
 *
 * @see contracts/ingest.md §9 [D145], §11 [D150]; contracts/delivery.md §8 [D624]
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions
  #timer: Timer | undefined
  /** Wall clock minus monotonic clock: constant unless the wall clock is set. */
  #offset: number
  #suspendedUntil = Number.NEGATIVE_INFINITY
  #indexWrittenAt: number
  #isStopped = false

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#offset = options.clock.now() - options.clock.monotonic()
    this.#indexWrittenAt = options.clock.monotonic()
  }

  start(): void {
    if (this.#isStopped) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.tidy()
        .catch((error: Error) => this.#options.logger.warn({ cause: error.message }, 'housekeeping failed'))
        .finally(() => this.start())
    }, INTERVAL_MS)
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  async tidy(): Promise<void> {
    const { log, store, clock, logKeepMs, traces, needs: needsOf, pruneSpans } = this.#options
    const isSuspended = this.#isSuspended()
    // A few events of a quiet stream must not keep all later segments.
    const writesIndex = clock.monotonic() - this.#indexWrittenAt >= HOUR_MS
    if (writesIndex) this.#indexWrittenAt = clock.monotonic()
    const needs = await needsOf(writesIndex)
    // The partitions of an embedded log share one counter: what an empty one gets from now on is not before this.
    const end = Math.max(...needs.map(({ partition }) => log.end(partition)))
    const logOldest: { partition: number; offset: number }[] = []
    const keptFrom: number[] = []
    for (const { partition, neededFrom, keptFrom: inBacklog } of needs) {
      // The log detects jumps of the clock itself, each time it is called.
      await log.retain(partition, neededFrom, logKeepMs)
      const offset = inBacklog ?? (await log.oldest(partition))?.offset ?? end
      logOldest.push({ partition, offset })
      keptFrom.push(Math.min(offset, neededFrom))
    }
    // Spans before all stored and waiting events are no longer needed.
    await pruneSpans(keptFrom)
    if (isSuspended) return
    await store.tidy({ finalBefore: clock.now() - traces.keepMs, logOldest, maxBytes: traces.maxBytes })
  }

  #isSuspended(): boolean {
    const { clock, logger } = this.#options
    const monotonic = clock.monotonic()
    const offset = clock.now() - monotonic
    const jumpMs = offset - this.#offset
    this.#offset = offset
    if (Math.abs(jumpMs) > HOUR_MS) {
      this.#suspendedUntil = monotonic + SUSPENSION_MS
      logger.warn({ jumpMs: Math.round(jumpMs) }, 'the clock jumped: nothing is deleted for 24 hours')
    }
    return monotonic < this.#suspendedUntil
  }
}
