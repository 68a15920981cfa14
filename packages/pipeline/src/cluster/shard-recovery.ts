import type { DeliveryStore, ShardRuns } from '@millrace/delivery'
import type { LogReader } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import { BackedLog } from '../backlog/backed-log.ts'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import { RunRecovery } from '../delivery/run-recovery.ts'
import type { Configuration } from '../following/configuration.ts'
import { ParsedRecords } from '../reading/parsed-records.ts'

/** Without an answer of the brokers, events of which this process does not know yet are delivered normally. */
const MAX_CATCH_UP_MS = 30_000

export interface ShardRecoveryOptions {
  readonly shard: number
  readonly partitions: readonly number[]
  readonly log: LogReader
  /** Resolves when all that the log holds of a partition can be read. */
  readonly caughtUp: (partition: number) => Promise<void>
  readonly store: Omit<DeliveryStore, 'runs'> & { runsOf(shard: number): ShardRuns }
  readonly uncleanEnds: number
  readonly metrics: DeliveryMetrics
  readonly clock: Clock
  readonly logger: Logger
}

/** How the owners of a shard ended, and what this one does about it. Several processes may have been its owners. */
export class ShardRecovery {
  readonly #options: ShardRecoveryOptions
  readonly #runs: ShardRuns
  readonly #recovery: RunRecovery

  /** This process begins to own the shard. */
  static async begin(options: ShardRecoveryOptions): Promise<ShardRecovery> {
    const { shard, partitions, log, caughtUp, store, uncleanEnds, clock, logger } = options
    const runs = store.runsOf(shard)
    const ends = async () => {
      const all = Promise.all(partitions.map((partition) => caughtUp(partition)))
      await Promise.race([all, new Promise<void>((resolve) => clock.setTimer(resolve, MAX_CATCH_UP_MS))])
      return Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    }
    const ofShard = {
      runs,
      noteUnderWay: store.noteUnderWay.bind(store),
      outcomesOf: store.outcomesOf.bind(store),
      flush: store.flush.bind(store),
    }
    const recovery = await RunRecovery.begin({ store: ofShard, uncleanEnds, ends, clock, logger })
    return new ShardRecovery(options, runs, recovery)
  }

  private constructor(options: ShardRecoveryOptions, runs: ShardRuns, recovery: RunRecovery) {
    this.#options = options
    this.#runs = runs
    this.#recovery = recovery
  }

  /** Whether its unfinished events run one at a time. */
  get isOneAtATime(): boolean {
    return this.#recovery.isOneAtATime
  }

  /** The event that ran alone when the last owner ended gets its outcome before any other work. */
  async giveUpEvent(configuration: Configuration): Promise<void> {
    if (!this.#recovery.hasEvent) return
    const { log, store, metrics, logger } = this.#options
    const backed = new BackedLog(log, store.backlog)
    await backed.refresh()
    const parsed = new ParsedRecords((partition, offset, error) =>
      logger.error({ partition, offset, cause: error.message }, 'a stored record cannot be read'),
    )
    await this.#recovery.giveUpEvent(configuration, { log: backed, store, parsed, metrics })
  }

  /** @see RunRecovery.runOneAtATime */
  runOneAtATime(deliveries: Parameters<RunRecovery['runOneAtATime']>[0]): Promise<boolean> {
    return this.#recovery.runOneAtATime(deliveries)
  }

  stop(): void {
    this.#recovery.stop()
  }

  /** The shard has ended in order. */
  end(): Promise<void> {
    return this.#recovery.end()
  }

  /** The shard is lost, and this process goes on: it was paused, or Postgres was away. */
  survived(): Promise<void> {
    return this.#runs.survived()
  }
}
