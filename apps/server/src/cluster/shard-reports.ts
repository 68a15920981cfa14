import type { FigureStore, ShardFigures } from '@millrace/delivery'
import { type HeldShard, type OwnedShards, type ShardState, Turns } from '@millrace/pipeline/cluster'
import type { Clock } from '@millrace/std'
import type { ServerLogger } from '../logger.ts'

/** Chunks of messageIds are written in each turn, figures in every other one. */
const TURN_MS = 1_000
/** Of the last calls of a destination in a shard, enough for percentiles. */
const MAX_DURATIONS = 100

interface ShardReportsOptions {
  readonly owned: OwnedShards
  readonly figures: FigureStore
  readonly configuration: () => ConfiguredIds
  readonly clock: Clock
  readonly logger: ServerLogger
}

interface ConfiguredIds {
  readonly destinations: ReadonlyMap<string, unknown>
  readonly connections: ReadonlyMap<string, { readonly sourceId: string; readonly destinationId: string }>
}

/**
 * Writes what other processes show of the shards of this one: messageIds every second, figures every 2 s.
 *
 * @see contracts/cluster.md §6, §10 [K18, K19]
 */
export class ShardReports {
  readonly #options: ShardReportsOptions
  readonly #turns: Turns
  #count = 0
  /** Time of the oldest event that waits, by shard; Infinity: none waits. */
  #oldest = new Map<number, number>()
  /** One call of the figures at a time. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: ShardReportsOptions) {
    this.#options = options
    const onError = (error: Error) => options.logger.warn({ err: error }, 'figures of shards cannot be written')
    this.#turns = new Turns(options.clock, TURN_MS, () => this.#report(), onError)
    this.#turns.start()
  }

  /** The age of the oldest event of each owned shard that is not finished, as of its last figures; 0 if none waits. */
  lagSeconds(): [shard: number, seconds: number][] {
    const { owned, clock } = this.#options
    return owned.shards.map(({ lease }) => {
      const oldest = this.#oldest.get(lease.number) ?? Number.POSITIVE_INFINITY
      return [lease.number, Number.isFinite(oldest) ? Math.max(0, (clock.now() - oldest) / 1_000) : 0]
    })
  }

  /** Writes the figures now, as after a change of the configuration. */
  write(): Promise<void> {
    const done = this.#writing.then(() => this.#write(this.#options.owned.shards))
    this.#writing = done.catch(() => {})
    return done
  }

  /** The last figures of a shard that is given back. */
  end(shard: HeldShard): Promise<void> {
    const done = this.#writing.then(() => this.#write([shard]))
    this.#writing = done.catch(() => {})
    return this.#writing
  }

  stop(): Promise<void> {
    return this.#turns.stop()
  }

  async #report(): Promise<void> {
    const { shards } = this.#options.owned
    await Promise.all(shards.map(({ pipeline }) => pipeline.needs({ writesIndex: true, dropsKept: false })))
    if (this.#count++ % 2 === 0) await this.write()
  }

  async #write(shards: readonly HeldShard[]): Promise<void> {
    if (shards.length === 0) return
    const { figures, configuration } = this.#options
    await figures.write(
      await Promise.all(
        shards.map(async (shard) => {
          const states = await statesOf(shard, configuration())
          this.#oldest.set(shard.lease.number, Math.min(...states.map(({ oldestPendingAt }) => oldestPendingAt)))
          return figuresOf(shard, states, configuration())
        }),
      ),
    )
  }
}

async function statesOf({ pipeline }: HeldShard, { destinations }: ConfiguredIds): Promise<ShardState[]> {
  return (await pipeline.states([...destinations.keys()])).filter((state) => state !== undefined)
}

async function figuresOf(
  { lease, pipeline }: HeldShard,
  states: readonly ShardState[],
  { connections }: ConfiguredIds,
): Promise<ShardFigures> {
  const byDestination = Map.groupBy(connections.values(), ({ destinationId }) => destinationId)
  return {
    shard: lease.number,
    destinations: await Promise.all(
      states.map(async (state) => {
        const { destinationId } = state
        const waiting: [string, number][] = []
        const isBusy = state.oldestPendingAt < Number.POSITIVE_INFINITY || state.wait !== undefined
        for (const { sourceId } of isBusy ? (byDestination.get(destinationId) ?? []) : []) {
          const events = await pipeline.waiting({ sourceId, destinationId })
          if (events > 0) waiting.push([sourceId, events])
        }
        return { destinationId, state: encoded(state), waiting }
      }),
    ),
  }
}

/** JSON knows no Infinity: null stands for it. */
function encoded({ recentDurations, ...state }: ShardState): object {
  const step = Math.max(1, Math.ceil(recentDurations.length / MAX_DURATIONS))
  return { ...state, recentDurations: [...recentDurations.filter((_, i) => i % step === 0)] }
}

/** A state as another process reads it. */
export function decodedState(state: object): ShardState {
  const { oldestPendingAt, recentDurations, ...rest } = state as ShardState
  return {
    ...rest,
    oldestPendingAt: oldestPendingAt ?? Number.POSITIVE_INFINITY,
    recentDurations: Float64Array.from(recentDurations),
  }
}
