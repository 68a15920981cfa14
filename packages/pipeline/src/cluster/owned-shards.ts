import { LocalMemoryBudget } from '@millrace/delivery'
import { AloneTurns } from './alone-turns.ts'
import { type ClusterLog, partitionsOfShard } from './cluster-log.ts'
import { DecisionWriter } from './duplicates/decision-writer.ts'
import type { HeldShard } from './held-shard.ts'
import { KeptPayloads, LOG_CUT } from './kept/kept-payloads.ts'
import { OwnedRemovals } from './owned-removals.ts'
import type { OwnedShardsOptions, SpannedConfiguration } from './owned-shards-options.ts'
import type { ShardLease } from './shard-lease.ts'
import { type ClaimedShard, ShardOpener } from './shard-opener.ts'
import type { ShardRecovery } from './shard-recovery.ts'
import { Turns } from './turns.ts'

const SURVIVED_AGAIN_MS = 1_000

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
  readonly #opener: ShardOpener
  readonly #claimed = new Map<number, ClaimedShard>()
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
    this.#removals = new OwnedRemovals({ ...options, partitions: () => this.partitions })
    this.#alone = new AloneTurns(() => this.shards.map(({ pipeline }) => pipeline), options.clock)
    this.#opener = new ShardOpener({
      ...{ options, decisions: this.#decisions, kept: this.#kept, removals: this.#removals },
      memory: new LocalMemoryBudget(options.memoryBytes),
      isOneAtATime: () => this.#alone.isOn,
    })
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
    const begun = [...this.#claimed.values()].filter((each): each is ClaimedShard & HeldShard => {
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
    const claimed: ClaimedShard = {
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

  async #begin(claimed: ClaimedShard): Promise<void> {
    const opened = await this.#opener.open(claimed)
    if (opened === undefined) return
    const { pipeline, newest } = opened
    await this.#inTurn(async () => {
      const latest = this.#latest
      if (latest !== undefined && latest.configuration.revision > newest.configuration.revision) {
        const removed = await pipeline.configure({ ...latest, ends: [] })
        await this.#removals.record(removed, [], latest.configuration)
      }
      claimed.pipeline = pipeline
    })
  }

  /** After unclean ends its unfinished events run one at a time; while another shard does that, it rests. */
  #beginTurn({ recovery, pipeline }: ClaimedShard): void {
    const work = () => recovery!.runOneAtATime([...pipeline!.deliveries.values()])
    this.#alone.add(pipeline!, recovery!.isOneAtATime ? work : undefined)
  }

  /** Ends a shard in order: no new attempts, calls in flight end, outcomes are written. */
  async stop(lease: ShardLease): Promise<void> {
    const claimed = this.#claimed.get(lease.number)
    if (claimed?.lease !== lease || claimed.isEnding) return
    claimed.isEnding = true
    claimed.recovery?.stop()
    // A job that waits for decisions would hold up its own end.
    claimed.dedup?.endWaiting()
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
    await this.#removals.stop()
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
      const { configuration } = change
      await this.#removals.record(removed.flat(), before?.spans ?? [], configuration)
      for (const id of before?.configuration.destinations.keys() ?? []) {
        if (!configuration.destinations.has(id)) this.#options.limits.forget(id)
      }
    })
  }

  /** The lease is lost: nothing of the shard may be sent or written from here on. */
  #lose(claimed: ClaimedShard): void {
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
  async #leave(claimed: ClaimedShard, earlier: Promise<void> | undefined): Promise<void> {
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

  #forget(claimed: ClaimedShard): void {
    const { number } = claimed.lease
    if (this.#claimed.get(number) === claimed) this.#claimed.delete(number)
    for (const unfollow of claimed.unfollow) unfollow()
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

/** Undefined until it has begun. */
function heldShard({ lease, dedup, pipeline }: ClaimedShard): HeldShard | undefined {
  return dedup === undefined || pipeline === undefined ? undefined : { lease, dedup, pipeline }
}
