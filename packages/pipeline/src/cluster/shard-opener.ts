import type { DeliveryStore, LocalMemoryBudget } from '@millrace/delivery'
import { KeyMemory } from '@millrace/log/dedup'
import { Spans } from '../following/spans.ts'
import { Pipeline } from '../pipeline.ts'
import { type ClusterLog, logOfShard, partitionsOfShard } from './cluster-log.ts'
import type { DecisionWriter } from './duplicates/decision-writer.ts'
import { ShardDedup } from './duplicates/shard-dedup.ts'
import { type KeptPayloads, LOG_CUT, type StartingDestination } from './kept/kept-payloads.ts'
import { leasedLimits } from './leased-limits.ts'
import type { OwnedRemovals } from './owned-removals.ts'
import type { OwnedShardsOptions, SpannedConfiguration } from './owned-shards-options.ts'
import type { ShardLease } from './shard-lease.ts'
import { ShardRecovery } from './shard-recovery.ts'

/** A shard from its claim on; the pipeline follows when it has begun. */
export interface ClaimedShard {
  readonly lease: ShardLease
  dedup: ShardDedup | undefined
  recovery: ShardRecovery | undefined
  pipeline: Pipeline | undefined
  readonly unfollow: (() => void)[]
  isEnding: boolean
  /** Resolves when its pipeline has begun; rejects if it could not. */
  begun: Promise<void>
}

export interface ShardOpenerDeps {
  readonly options: OwnedShardsOptions
  readonly decisions: DecisionWriter
  readonly kept: KeptPayloads
  /** Of all shards. */
  readonly memory: LocalMemoryBudget
  readonly removals: OwnedRemovals
  /** Whether some shard's events run one at a time. */
  readonly isOneAtATime: () => boolean
}

/** Opens claimed shards with the state that their last owners wrote. */
export class ShardOpener {
  readonly #deps: ShardOpenerDeps
  readonly #options: OwnedShardsOptions
  readonly #log: ClusterLog
  /** Deduplication keys of all shards. */
  readonly #keys = new KeyMemory()

  constructor(deps: ShardOpenerDeps) {
    this.#deps = deps
    this.#options = deps.options
    this.#log = deps.options.log
  }

  /**
   * Most of it is waiting for Postgres and the brokers: reads that do not need each other run at the same time.
   *
   * @returns the pipeline and the configuration that it follows; undefined if the shard ended meanwhile. What is open by then
   *   stands in `claimed`, also if it throws.
   */
  async open(claimed: ClaimedShard): Promise<{ pipeline: Pipeline; newest: SpannedConfiguration } | undefined> {
    const { lease } = claimed
    const { kept, isOneAtATime } = this.#deps
    const [newest] = await allEnded(this.#newestFor(lease.number), this.#openDedup(claimed))
    const { dedup } = claimed
    if (claimed.isEnding || dedup === undefined) return undefined
    await allEnded(
      kept.begin(partitionsOfShard(lease.number, this.#log), await this.#startsOf(newest)),
      this.#beginRun(claimed, dedup),
    )
    const recovery = claimed.recovery!
    if (claimed.isEnding) return undefined
    await recovery.giveUpEvent(newest.configuration)
    if (claimed.isEnding) return undefined
    const alone = { isOneAtATime: recovery.isOneAtATime || isOneAtATime(), runOneAtATime: async () => false }
    const pipeline = await Pipeline.start({ ...this.#optionsOf(lease, dedup, newest), recovery: alone })
    return { pipeline, newest }
  }

  async #newestFor(shard: number): Promise<SpannedConfiguration> {
    const stored = await this.#options.store.spans.all()
    const newest = await this.#options.newest()
    const partitions = partitionsOfShard(shard, this.#log)
    await this.#deps.removals.recordForgotten(stored, newest, partitions)
    return newest
  }

  async #openDedup(claimed: ClaimedShard): Promise<void> {
    const { number: shard } = claimed.lease
    const { store, marks, onDuplicates, clock, logger } = this.#options
    const followed = partitionsOfShard(shard, this.#log).map(async (partition) => {
      const unfollow = await this.#log.follow(partition)
      if (claimed.isEnding) unfollow()
      else claimed.unfollow.push(unfollow)
    })
    await allEnded(...followed)
    if (claimed.isEnding) return
    claimed.dedup = await ShardDedup.open({
      ...{ shard, log: this.#log, store: store.duplicates, writer: this.#deps.decisions, memory: this.#keys },
      ...{ marks, onDuplicates, clock, logger },
    })
  }

  async #beginRun(claimed: ClaimedShard, dedup: ShardDedup): Promise<void> {
    const { number: shard } = claimed.lease
    const { store, uncleanEnds, metrics, clock, logger } = this.#options
    claimed.recovery = await ShardRecovery.begin({
      ...{ shard, partitions: partitionsOfShard(shard, this.#log) },
      ...{ log: logOfShard(this.#log, shard, dedup), caughtUp: (partition) => dedup.caughtUp(partition) },
      ...{ store, uncleanEnds, metrics, clock, logger },
    })
  }

  /** Where the destinations of a claimed shard go on. */
  async #startsOf({ configuration, spans: stored }: SpannedConfiguration): Promise<StartingDestination[]> {
    const positions = await this.#options.store.outcomes.positions()
    const spans = new Spans(this.#log, stored)
    const { homes } = this.#log
    return [...configuration.destinations.keys()].map((id) => ({
      id,
      activity: spans.activityOf(id),
      startOf: (partition) => {
        const stream = partition < homes ? 0 : 1
        const row = positions.find(
          (each) => each.reader === id && each.partition === partition && each.stream === stream,
        )
        return row?.position.offset ?? spans.firstConnected(id, partition).offset
      },
    }))
  }

  #optionsOf(lease: ShardLease, dedup: ShardDedup, { configuration, spans }: SpannedConfiguration) {
    const { store, limits, clock, random, live, metrics, onReplayEnded, logger, ...rest } = this.#options
    const { findModule, sourceClass, newClient, userCode, userAgent } = rest
    const spansOf: DeliveryStore['spans'] = {
      all: async () => [...spans],
      write: (change) => store.spans.write(change),
      drop: (dropped) => store.spans.drop(dropped),
    }
    return {
      ...{ findModule, sourceClass, newClient, userCode, userAgent, clock, random, live, metrics, logger },
      log: logOfShard(this.#log, lease.number, dedup),
      store: storeOfShard(store, spansOf),
      memory: this.#deps.memory,
      limitsOf: (id: string) => leasedLimits(limits.of(id), lease, clock),
      onDelivered: () => {},
      onReplayEnded: (jobId: string, destinationId: string) => onReplayEnded(lease.number, jobId, destinationId),
      partitions: partitionsOfShard(lease.number, this.#log),
      lostReason: LOG_CUT,
      onGap: this.#deps.kept.onGap,
      configuration,
    }
  }
}

/** As `Promise.all`, but it rejects only when all have ended: what they open is then known, and can be closed. */
async function allEnded<T extends readonly Promise<unknown>[]>(
  ...work: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** The store, but with the spans of one configuration. `OwnedRemovals` drops the spans of removed resources. */
function storeOfShard(store: DeliveryStore, spans: DeliveryStore['spans']) {
  return {
    ...{ outcomes: store.outcomes, deadLetters: store.deadLetters, jobs: store.jobs, backlog: store.backlog },
    ...{ messages: store.messages, spans },
    outcomesOf: (id: string) => store.outcomesOf(id),
    flush: () => store.flush(),
    trouble: () => store.trouble(),
  }
}
