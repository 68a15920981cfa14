import type { Scope } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { OwnedShard, ShardState } from '@millrace/pipeline/cluster'
import type { PostgresPool } from '@millrace/postgres'

/** Owners write every 2 s: an older answer is not worth asking again within this time. */
const FRESH_MS = 250
/** Of the last calls of a destination in a shard, enough for percentiles. */
const MAX_DURATIONS = 100

/** What the owner of a shard says about it. JSON knows no Infinity: null stands for it. */
export interface Figures {
  readonly states: readonly ShardState[]
  readonly waiting: readonly (readonly [sourceId: string, destinationId: string, events: number])[]
}

/**
 * The figures of all shards, which their owners write into Postgres, so that every process can answer for the whole
 * installation. While a shard has no owner, the last figures stay: its events wait.
 *
 * @see contracts/cluster.md §6 [K18]
 */
export class ShardFigures {
  readonly #pool: PostgresPool
  readonly #clock: Clock
  #read: { readonly at: number; readonly figures: Promise<ReadonlyMap<number, Figures>> } | undefined

  constructor(pool: PostgresPool, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
  }

  /** Figures of a shard that another process has claimed meanwhile are not written; the next owner writes its own. */
  async write(shards: readonly OwnedShard[], configured: ConfiguredIds): Promise<void> {
    if (shards.length === 0) return
    const rows = await Promise.all(
      shards.map(async ({ lease, pipeline }) => {
        return { shard: lease.number, epoch: lease.epoch, figures: encoded(await figuresOf(pipeline, configured)) }
      }),
    )
    await this.#pool.query(WRITE, [JSON.stringify(rows)])
    this.#read = undefined
  }

  /** By shard. */
  all(): Promise<ReadonlyMap<number, Figures>> {
    const now = this.#clock.monotonic()
    if (this.#read === undefined || now - this.#read.at > FRESH_MS) {
      const figures = this.#readAll()
      figures.catch(() => {
        this.#read = undefined
      })
      this.#read = { at: now, figures }
    }
    return this.#read.figures
  }

  /** Waiting events of a scope, without dead letters. */
  async waiting({ sourceId, destinationId }: Scope): Promise<number> {
    let sum = 0
    for (const { waiting } of (await this.all()).values()) {
      for (const [source, destination, events] of waiting) {
        const isMeant =
          (sourceId === undefined || sourceId === source) &&
          (destinationId === undefined || destinationId === destination)
        if (isMeant) sum += events
      }
    }
    return sum
  }

  async #readAll(): Promise<ReadonlyMap<number, Figures>> {
    const rows = await this.#pool.query<{ shard: number; figures: string }>('SELECT shard, figures FROM shard_figures')
    return new Map(rows.map(({ shard, figures }) => [shard, decoded(figures)]))
  }
}

interface ConfiguredIds {
  readonly destinations: ReadonlyMap<string, unknown>
  readonly connections: ReadonlyMap<string, { readonly sourceId: string; readonly destinationId: string }>
}

async function figuresOf(
  pipeline: OwnedShard['pipeline'],
  { destinations, connections }: ConfiguredIds,
): Promise<Figures> {
  const found = await pipeline.states([...destinations.keys()])
  const states = found.filter((state) => state !== undefined)
  const busy = new Set(
    states.flatMap((state) => (state.oldestPendingAt < Number.POSITIVE_INFINITY ? [state.destinationId] : [])),
  )
  const waiting: [string, string, number][] = []
  for (const { sourceId, destinationId } of connections.values()) {
    if (!busy.has(destinationId)) continue
    const events = await pipeline.waiting({ sourceId, destinationId })
    if (events > 0) waiting.push([sourceId, destinationId, events])
  }
  return { states, waiting }
}

function encoded({ states, waiting }: Figures): string {
  const plain = states.map(({ recentDurations, ...state }) => {
    const step = Math.max(1, Math.ceil(recentDurations.length / MAX_DURATIONS))
    return { ...state, recentDurations: [...recentDurations.filter((_, i) => i % step === 0)] }
  })
  return JSON.stringify({ states: plain, waiting })
}

function decoded(text: string): Figures {
  const { states, waiting } = JSON.parse(text) as Figures
  return {
    waiting,
    states: states.map((state) => ({
      ...state,
      oldestPendingAt: state.oldestPendingAt ?? Number.POSITIVE_INFINITY,
      recentDurations: Float64Array.from(state.recentDurations),
    })),
  }
}

const WRITE = `
  INSERT INTO shard_figures AS s (shard, epoch, at, figures)
  SELECT row.shard, row.epoch, now(), row.figures
  FROM json_to_recordset($1::json) AS row(shard integer, epoch bigint, figures text)
  JOIN lease ON lease.kind = 'shard' AND lease.number = row.shard AND lease.epoch = row.epoch
  ORDER BY row.shard
  ON CONFLICT (shard) DO UPDATE SET epoch = excluded.epoch, at = excluded.at, figures = excluded.figures
    WHERE s.epoch <= excluded.epoch`
