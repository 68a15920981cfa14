import type { Queries } from '@millrace/postgres'
import type { Scope } from '../dead-letter-store.ts'
import type { FigureStore, ShardFigures } from '../shard-figures.ts'
import { assertShardsOwned } from './lease-fence.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/**
 * Figures of shards in two tables: a state by shard and destination, a count of waiting events by shard, destination and
 * source. A process writes what changed since its last write; whether a state is of now, the lease of its shard tells.
 */
export class PostgresFigures implements FigureStore {
  readonly #transactions: Transactions
  readonly #names: StoredNames
  /** By shard, as this process has written them under this epoch. */
  readonly #written = new Map<number, WrittenFigures>()

  constructor(transactions: Transactions, names: StoredNames) {
    this.#transactions = transactions
    this.#names = names
  }

  async write(figures: readonly ShardFigures[]): Promise<void> {
    const { fence } = this.#transactions
    if (fence === undefined) throw new Error('only the owner of a shard writes its figures')
    const ids = figures.flatMap(({ destinations }) =>
      destinations.flatMap(({ destinationId, waiting }) => [destinationId, ...waiting.map(([id]) => id)]),
    )
    const number = await this.#names.numbers(ids)
    const shards = figures.map(({ shard }) => shard)
    const next = figures.map((each) => writtenOf(each, fence.epochOf(each.shard) ?? 0, number))
    try {
      await this.#transactions.write(async (queries) => {
        await assertShardsOwned(queries, fence, shards)
        for (const [i, shard] of shards.entries()) await this.#replace(queries, shard, next[i]!)
      })
      for (const [i, shard] of shards.entries()) this.#written.set(shard, next[i]!)
    } catch (error) {
      for (const shard of shards) this.#written.delete(shard)
      throw error
    }
  }

  async waiting({ destinationId, sourceId }: Scope): Promise<number> {
    const sought = [await this.#names.sought(destinationId), await this.#names.sought(sourceId)]
    const [row] = await this.#transactions.pool.query<{ sum: number }>(
      WAITING,
      sought.map((id) => id ?? null),
    )
    return row!.sum
  }

  async states<State extends object>(destinationIds: readonly string[]): Promise<State[][]> {
    const rows = await this.#transactions.pool.query<{ name: string; state: string }>(STATES, [destinationIds])
    const found = Map.groupBy(rows, ({ name }) => name)
    return destinationIds.map((id) => (found.get(id) ?? []).map(({ state }) => JSON.parse(state) as State))
  }

  async owners(except?: string): Promise<Map<string, number>> {
    const rows = await this.#transactions.pool.query<{ name: string; owners: number }>(OWNERS, [except ?? null])
    return new Map(rows.map(({ name, owners }) => [name, owners]))
  }

  async #replace(queries: Queries, shard: number, { epoch, states, waiting }: WrittenFigures): Promise<void> {
    const written = this.#written.get(shard)
    const before = written?.epoch === epoch ? written : undefined
    if (before === undefined) for (const sql of [DROP_STATES, DROP_WAITING]) await queries.run(sql, [shard])
    const changedStates = changes(before?.states, states)
    const gone = [...(before?.states.keys() ?? [])].filter((destination) => !states.has(destination))
    if (gone.length > 0) await queries.run(`${DROP_STATES} AND destination = ANY ($2)`, [shard, gone])
    if (changedStates.length > 0) {
      const rows = changedStates.map(([destination, state]) => ({ destination, state }))
      await queries.run(PUT_STATES, [shard, epoch, JSON.stringify(rows)])
    }
    // A source that has no waiting events any more counts 0.
    const ended = [...(before?.waiting.keys() ?? [])].filter((key) => !waiting.has(key))
    const changedWaiting = [...changes(before?.waiting, waiting), ...ended.map((key) => [key, 0] as const)]
    if (changedWaiting.length === 0) return
    const rows = changedWaiting.map(([key, events]) => {
      const [destination, source] = key.split(' ').map(Number)
      return { destination, source, events }
    })
    await queries.run(PUT_WAITING, [shard, JSON.stringify(rows)])
  }
}

interface WrittenFigures {
  readonly epoch: number
  /** JSON by number of the destination. */
  readonly states: ReadonlyMap<number, string>
  /** By `destination source`. */
  readonly waiting: ReadonlyMap<string, number>
}

function writtenOf({ destinations }: ShardFigures, epoch: number, number: (name: string) => number): WrittenFigures {
  return {
    epoch,
    states: new Map(destinations.map(({ destinationId, state }) => [number(destinationId), JSON.stringify(state)])),
    waiting: new Map(
      destinations.flatMap(({ destinationId, waiting }) =>
        waiting.map(([sourceId, events]) => [`${number(destinationId)} ${number(sourceId)}`, events] as const),
      ),
    ),
  }
}

/** The entries that are new or have another value. */
function changes<Key, Value>(before: ReadonlyMap<Key, Value> | undefined, now: ReadonlyMap<Key, Value>) {
  return [...now].filter(([key, value]) => before?.get(key) !== value)
}

const DROP_STATES = 'DELETE FROM shard_state WHERE shard = $1'
const DROP_WAITING = 'DELETE FROM shard_waiting WHERE shard = $1'
const PUT_STATES = `
  INSERT INTO shard_state (shard, destination, epoch, state)
  SELECT $1, destination, $2, state FROM json_to_recordset($3::json) AS row(destination bigint, state text)
  ON CONFLICT (shard, destination) DO UPDATE SET epoch = excluded.epoch, state = excluded.state`
const PUT_WAITING = `
  INSERT INTO shard_waiting (shard, destination, source, events)
  SELECT $1, destination, source, events
  FROM json_to_recordset($2::json) AS row(destination bigint, source bigint, events bigint)
  ON CONFLICT (shard, destination, source) DO UPDATE SET events = excluded.events`
const WAITING = `
  SELECT coalesce(sum(events), 0)::bigint AS sum FROM shard_waiting
  WHERE ($1::bigint IS NULL OR destination = $1) AND ($2::bigint IS NULL OR source = $2)`
const OWNED = "lease.kind = 'shard' AND lease.owner IS NOT NULL AND lease.until > now()"
const STATES = `
  SELECT name.name, s.state FROM shard_state s JOIN name ON name.id = s.destination
  JOIN lease ON ${OWNED} AND lease.number = s.shard AND lease.epoch = s.epoch
  WHERE name.name = ANY ($1::text[]) ORDER BY s.shard`
const OWNERS = `
  SELECT name.name, count(DISTINCT lease.owner) AS owners FROM shard_waiting w JOIN name ON name.id = w.destination
  JOIN lease ON ${OWNED} AND lease.number = w.shard
  WHERE w.events > 0 AND ($1::text IS NULL OR lease.owner <> $1) GROUP BY name.name`
