import {
  type DeliveryStore,
  type DestinationLimits,
  type DuplicateStore,
  LocalMemoryBudget,
  type PlaceStore,
  type ShardRuns,
  type Span,
} from '@millrace/delivery'
import { KeyMemory } from '@millrace/log/dedup'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { Configuration } from '../following/configuration.ts'
import { Spans } from '../following/spans.ts'
import { Pipeline } from '../pipeline.ts'
import type { ShardDeps } from '../pipeline-options.ts'
import { AloneTurns } from './alone-turns.ts'
import { type ClusterLog, logOfShard, partitionsOfShard } from './cluster-log.ts'
import { DecisionWriter } from './duplicates/decision-writer.ts'
import type { OwnedMarks } from './duplicates/owned-marks.ts'
import { ShardDedup } from './duplicates/shard-dedup.ts'
import type { HeldShard } from './held-shard.ts'
import { KeptPayloads, LOG_CUT, type StartingDestination } from './kept/kept-payloads.ts'
import { leasedLimits } from './leased-limits.ts'
import { OwnedRemovals } from './owned-removals.ts'
import type { ShardLease } from './shard-lease.ts'
import { ShardRecovery } from './shard-recovery.ts'
import { Turns } from './turns.ts'

const SURVIVED_AGAIN_MS = 1_000

/** A configuration with the stored spans of its resources. */
export interface SpannedConfiguration {
  readonly configuration: Configuration
  readonly spans: readonly Span[]
}

export interface OwnedShardsOptions
  extends Omit<ShardDeps, 'log' | 'store' | 'memory' | 'limitsOf' | 'onDelivered' | 'onReplayEnded' | 'metrics'> {
  readonly log: ClusterLog
  readonly store: DeliveryStore & {
    readonly duplicates: DuplicateStore
    readonly places: PlaceStore
    runsOf(shard: number): ShardRuns
  }
  /** From this number of unclean ends of its owners, the unfinished events of a shard run one at a time; 0: never. */
  readonly uncleanEnds: number
  /** Those that the log shows. */
  readonly marks: OwnedMarks
  /** Called once for each record with duplicates. */
  readonly onDuplicates: (sourceId: string, acceptedAt: number, count: number) => void
  readonly metrics: DeliveryMetrics
  readonly memoryBytes: number
  /** The limits of each destination, for all its lanes in this process. */
  readonly limits: { of(destinationId: string): DestinationLimits; forget(destinationId: string): void }
  /** The newest stored configuration. @throws if it cannot be read now. */
  readonly newest: () => Promise<SpannedConfiguration>
  /** Time that calls in flight have when a shard is given back. */
  readonly shutdownMs: number
  /** The fence refused a write of this shard. */
  readonly onFenced: (lease: ShardLease) => void
  /** A shard begins or has ended. */
  readonly onShards: (change: ShardChange) => void | Promise<void>
  /** A lane of a shard has finished an event of a replay. */
  readonly onReplayEnded: (shard: number, jobId: string, destinationId: string) => void
}

/** `isLost`: another process may own it; else it ends in order, and its lanes still work. */
export type ShardChange =
  | { readonly kind: 'begun'; readonly shard: HeldShard }
  | { readonly kind: 'ending'; readonly shard: HeldShard; readonly isLost: boolean }

/** A shard from its claim on; the pipeline follows when it has begun. */
interface Claimed {
  readonly lease: ShardLease
  dedup: ShardDedup | undefined
  recovery: ShardRecovery | undefined
  pipeline: Pipeline | undefined
  readonly unfollow: (() => void)[]
  isEnding: boolean
  /** Resolves when its pipeline has begun; rejects if it could not. */
  begun: Promise<void>
}

/**
 * The shards that this process owns by leases: each begins when its lease is claimed, and ends before it is given back or
 * when it is lost.
 *
 * @see contracts/cluster.md §4, §6
 */
export class OwnedShards {
  readonly #options: OwnedShardsOptions
  readonly #log: ClusterLog
  readonly #decisions: DecisionWriter
  readonly #kept: KeptPayloads
  /** Deduplication keys of all shards. */
  readonly #keys = new KeyMemory()
  readonly #memory: LocalMemoryBudget
  readonly #claimed = new Map<number, Claimed>()
  /** By number, shards that have ended here and still leave: the next claim of the same shard waits for it. */
  readonly #leaving = new Map<number, Promise<void>>()
  readonly #removals: OwnedRemovals
  readonly #alone: AloneTurns
  /** Lost shards of which Postgres does not know yet that this process goes on. */
  readonly #survived = new Set<ShardRecovery>()
  readonly #survivals: Turns
  #latest: SpannedConfiguration | undefined
  /** Changes of the configuration reach all shards in their order. */
  #configuring: Promise<unknown> = Promise.resolve()

  constructor(options: OwnedShardsOptions) {
    this.#options = options
    this.#log = options.log
    this.#decisions = new DecisionWriter(options.store.duplicates, options.clock, options.logger)
    this.#kept = new KeptPayloads({
      ...{ log: options.log, store: options.store, clock: options.clock, logger: options.logger },
      shards: () => this.shards,
      onCut: (destinationId, count) => options.metrics.outcome(destinationId, 'expired', count, LOG_CUT),
    })
    this.#memory = new LocalMemoryBudget(options.memoryBytes)
    this.#removals = new OwnedRemovals({ ...options, partitions: () => this.partitions })
    this.#alone = new AloneTurns(() => this.shards.map(({ pipeline }) => pipeline), options.clock)
    // Postgres is away: the shards were lost because of that.
    this.#survivals = new Turns(
      options.clock,
      SURVIVED_AGAIN_MS,
      () => this.#tellSurvived(),
      () => {},
    )
  }

  /** Those that deliver, by number. */
  get shards(): readonly HeldShard[] {
    const begun = [...this.#claimed.values()].filter((each): each is Claimed & HeldShard => {
      return each.dedup !== undefined && each.pipeline !== undefined && !each.isEnding
    })
    return begun.sort((a, b) => a.lease.number - b.lease.number)
  }

  /** Those of its shards that deliver. */
  get partitions(): readonly number[] {
    return this.shards.flatMap(({ lease }) => partitionsOfShard(lease.number, this.#log))
  }

  /** The epoch under which this process writes a shard; undefined: it does not own it. */
  epochOf(shard: number): number | undefined {
    return this.#claimed.get(shard)?.lease.epoch
  }

  /** The database refused a write: another process owns these shards. */
  fenced(shards: readonly number[]): void {
    for (const number of shards) {
      const claimed = this.#claimed.get(number)
      if (claimed !== undefined) this.#options.onFenced(claimed.lease)
    }
  }

  /** Begins a claimed shard, with the state that its last owner wrote. */
  async start(lease: ShardLease): Promise<void> {
    // What this process did under an earlier lease must not be written under this one.
    await this.#leaving.get(lease.number)
    if (lease.signal.aborted) return
    const claimed: Claimed = {
      ...{ lease, dedup: undefined, recovery: undefined, pipeline: undefined },
      ...{ unfollow: [], isEnding: false, begun: Promise.resolve() },
    }
    this.#claimed.set(lease.number, claimed)
    lease.signal.addEventListener('abort', () => this.#lose(claimed), { once: true })
    claimed.begun = this.#begin(claimed)
    await claimed.begun
    if (claimed.isEnding) return
    await this.#options.onShards({ kind: 'begun', shard: heldShard(claimed)! })
    if (!claimed.isEnding) this.#beginTurn(claimed)
  }

  /** After unclean ends its unfinished events run one at a time; while another shard does that, it rests. */
  #beginTurn({ recovery, pipeline }: Claimed): void {
    const work = () => recovery!.runOneAtATime([...pipeline!.deliveries.values()])
    this.#alone.add(pipeline!, recovery!.isOneAtATime ? work : undefined)
  }

  /** Most of a claim is waiting for Postgres and the brokers: reads that do not need each other run at the same time. */
  async #begin(claimed: Claimed): Promise<void> {
    const { lease } = claimed
    const [newest] = await allEnded(this.#newestFor(lease.number), this.#openDedup(claimed))
    const { dedup } = claimed
    if (claimed.isEnding || dedup === undefined) return
    await allEnded(
      this.#kept.begin(partitionsOfShard(lease.number, this.#log), await this.#startsOf(newest)),
      this.#beginRun(claimed, dedup),
    )
    const recovery = claimed.recovery!
    if (claimed.isEnding) return
    await recovery.giveUpEvent(newest.configuration)
    if (claimed.isEnding) return
    const alone = { isOneAtATime: recovery.isOneAtATime || this.#alone.isOn, runOneAtATime: async () => false }
    const pipeline = await Pipeline.start({ ...this.#optionsOf(lease, dedup, newest), recovery: alone })
    await this.#inTurn(async () => {
      const latest = this.#latest
      if (latest !== undefined && latest.configuration.revision > newest.configuration.revision) {
        await this.#removals.record(await pipeline.configure({ ...latest, ends: [] }))
      }
      claimed.pipeline = pipeline
    })
  }

  async #newestFor(shard: number): Promise<SpannedConfiguration> {
    const stored = await this.#options.store.spans.all()
    const newest = await this.#options.newest()
    const partitions = partitionsOfShard(shard, this.#log)
    await this.#removals.recordForgotten(stored, newest.configuration, partitions)
    return newest
  }

  async #openDedup(claimed: Claimed): Promise<void> {
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
      ...{ shard, log: this.#log, store: store.duplicates, writer: this.#decisions, memory: this.#keys },
      ...{ marks, onDuplicates, clock, logger },
    })
  }

  async #beginRun(claimed: Claimed, dedup: ShardDedup): Promise<void> {
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

  /** Ends a shard in order: no new attempts, calls in flight end, outcomes are written. */
  async stop(lease: ShardLease): Promise<void> {
    const claimed = this.#claimed.get(lease.number)
    if (claimed?.lease !== lease || claimed.isEnding) return
    claimed.isEnding = true
    claimed.recovery?.stop()
    const held = heldShard(claimed)
    if (held !== undefined) {
      await this.#options.onShards({ kind: 'ending', shard: held, isLost: false })
      await held.pipeline.stop(this.#deadline())
      await this.#options.store.flush()
    }
    await Promise.all([claimed.dedup?.close({ isLost: false }), claimed.recovery?.end()])
    this.#forget(claimed)
  }

  /** Resolves when everything is decided on duplicates that a partition of this process held at the call. */
  async decided(partition: number): Promise<void> {
    await this.#claimed.get(partition % this.#log.homes)?.dedup?.caughtUp(partition)
  }

  /** Why a shard cannot look for duplicates; undefined if all can. */
  dedupTrouble(): string | undefined {
    return this.shards.map(({ dedup }) => dedup.trouble()).find((trouble) => trouble !== undefined)
  }

  /** What topics deleted too early, for /health; undefined: nothing. */
  retentionWarning(): string | undefined {
    return this.#kept.warning()
  }

  /** After all shards have ended. */
  async close(): Promise<void> {
    await this.#survivals.stop()
    await this.#kept.stop()
    await this.#decisions.stop()
  }

  /** Passes a configuration on to all shards; resolves when they follow it. */
  async configure(change: SpannedConfiguration): Promise<void> {
    await this.#inTurn(async () => {
      const before = this.#latest
      this.#latest = change
      const removed = await Promise.all(this.shards.map(({ pipeline }) => pipeline.configure({ ...change, ends: [] })))
      await this.#removals.record(removed.flat())
      if (before !== undefined) await this.#forgetRemoved(before, change.configuration)
    })
  }

  async #forgetRemoved(before: SpannedConfiguration, { destinations, ...rest }: Configuration): Promise<void> {
    for (const id of before.configuration.destinations.keys()) {
      if (!destinations.has(id)) this.#options.limits.forget(id)
    }
    await this.#removals.dropSpans(before.spans, { destinations, ...rest })
  }

  /** The lease is lost: nothing of the shard may be sent or written from here on. */
  #lose(claimed: Claimed): void {
    const { lease } = claimed
    const wasEnding = claimed.isEnding
    claimed.isEnding = true
    claimed.recovery?.stop()
    const held = heldShard(claimed)
    if (held !== undefined && !wasEnding) void this.#options.onShards({ kind: 'ending', shard: held, isLost: true })
    this.#forget(claimed)
    void claimed.dedup?.close({ isLost: true })
    const left = this.#leave(claimed, this.#leaving.get(lease.number))
    this.#leaving.set(lease.number, left)
    void left.finally(() => {
      if (this.#leaving.get(lease.number) === left) this.#leaving.delete(lease.number)
    })
  }

  /** Without an epoch, the fence refuses every outcome that its lanes have collected. */
  async #leave(claimed: Claimed, earlier: Promise<void> | undefined): Promise<void> {
    try {
      await earlier
      // It may just be beginning.
      await claimed.begun.catch(() => {})
      await claimed.dedup?.close({ isLost: true })
      await claimed.pipeline?.stop(Promise.resolve())
      await this.#options.store.flush()
    } catch (error) {
      const fields = { shard: claimed.lease.number, err: error as Error }
      this.#options.logger.warn(fields, 'a lost shard did not end in order')
    }
    if (claimed.recovery === undefined) return
    this.#survived.add(claimed.recovery)
    this.#survivals.start()
    this.#survivals.wake()
  }

  async #tellSurvived(): Promise<void> {
    for (const recovery of this.#survived) {
      await recovery.survived()
      this.#survived.delete(recovery)
    }
  }

  #forget(claimed: Claimed): void {
    const { number } = claimed.lease
    if (this.#claimed.get(number) === claimed) this.#claimed.delete(number)
    for (const unfollow of claimed.unfollow) unfollow()
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
      memory: this.#memory,
      limitsOf: (id: string) => leasedLimits(limits.of(id), lease, clock),
      onDelivered: () => {},
      onReplayEnded: (jobId: string, destinationId: string) => onReplayEnded(lease.number, jobId, destinationId),
      partitions: partitionsOfShard(lease.number, this.#log),
      lostReason: LOG_CUT,
      onGap: this.#kept.onGap,
      configuration,
    }
  }

  #deadline(): Promise<void> {
    const { clock, shutdownMs } = this.#options
    return new Promise((resolve) => clock.setTimer(resolve, shutdownMs))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#configuring.then(work)
    this.#configuring = done.catch(() => {})
    return done
  }
}

/** As `Promise.all`, but it rejects only when all have ended: what they open is then known, and can be closed. */
async function allEnded<T extends readonly Promise<unknown>[]>(
  ...work: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** Undefined until it has begun. */
function heldShard({ lease, dedup, pipeline }: Claimed): HeldShard | undefined {
  return dedup === undefined || pipeline === undefined ? undefined : { lease, dedup, pipeline }
}

/** The store with the spans of a configuration: those of removed resources are left to whoever records their removal. */
function storeOfShard(store: DeliveryStore, spans: DeliveryStore['spans']) {
  return {
    ...{ outcomes: store.outcomes, deadLetters: store.deadLetters, jobs: store.jobs, backlog: store.backlog },
    ...{ messages: store.messages, spans },
    outcomesOf: (id: string) => store.outcomesOf(id),
    flush: () => store.flush(),
    trouble: () => store.trouble(),
  }
}
