import { assertHeld, type HeldLease } from '@millrace/postgres'
import type { BudgetFigures, BudgetState, BudgetStore, HeldBytes } from '../budget-store.ts'
import { assertShardsOwned } from './lease-fence.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/** Sums what destinations hold in Postgres, and keeps the orders of the budget's holder. */
export class PostgresBudget implements BudgetStore<HeldLease> {
  readonly #transactions: Transactions
  readonly #names: StoredNames

  constructor(transactions: Transactions, names: StoredNames) {
    this.#transactions = transactions
    this.#names = names
  }

  async figures(homes: number): Promise<BudgetFigures> {
    const { pool } = this.#transactions
    const kept = await pool.query<{ shard: number; bytes: number }>(KEPT, [homes])
    const letters = await pool.query<HeldRow>(LETTERS, [homes])
    const waiting = await pool.query<WaitingRow>(WAITING, [homes])
    const ofShard = new Map(kept.map(({ shard, bytes }) => [shard, bytes]))
    const eventsIn = new Map<number, number>()
    for (const { shard, events } of waiting) eventsIn.set(shard, (eventsIn.get(shard) ?? 0) + events)
    const held = new Map<string, HeldBytes>()
    const add = (destinationId: string, shard: number, bytes: number) => {
      const key = `${shard} ${destinationId}`
      if (bytes > 0) held.set(key, { destinationId, shard, bytes: (held.get(key)?.bytes ?? 0) + bytes })
    }
    for (const { destinationId, shard, bytes } of letters) add(destinationId, shard, bytes)
    for (const { destinationId, shard, events } of waiting) {
      const part = events / Math.max(1, eventsIn.get(shard)!)
      add(destinationId, shard, Math.round((ofShard.get(shard) ?? 0) * part))
    }
    const used = [...kept, ...letters].reduce((sum, { bytes }) => sum + bytes, 0)
    return { used, held: [...held.values()] }
  }

  async decide(lease: HeldLease, state: BudgetState, orders: readonly HeldBytes[] | undefined): Promise<void> {
    const number = await this.#names.numbers((orders ?? []).map(({ destinationId }) => destinationId))
    const rows = orders?.map(({ destinationId, shard, bytes }) => ({
      destination: number(destinationId),
      shard,
      bytes,
    }))
    await this.#transactions.write(async (queries) => {
      await assertHeld(queries, lease)
      await queries.run(PUT_STATE, [state.used, state.maxBytes, state.largest, state.at])
      if (rows === undefined) return
      await queries.run('DELETE FROM backlog_order')
      await queries.run(PUT_ORDERS, [JSON.stringify(rows)])
    })
  }

  orders(shards?: readonly number[]): Promise<HeldBytes[]> {
    return this.#transactions.pool.query<HeldRow>(ORDERS, [shards ?? null])
  }

  async begin(order: HeldBytes): Promise<boolean> {
    const begun = 'UPDATE backlog_order SET bytes = 0 WHERE destination = $1 AND shard = $2 AND bytes = $3'
    return (await this.#change(order, begun, [order.bytes])) > 0
  }

  async done(order: HeldBytes): Promise<void> {
    await this.#change(order, 'DELETE FROM backlog_order WHERE destination = $1 AND shard = $2')
  }

  /** @returns the number of changed orders. */
  async #change({ destinationId, shard }: HeldBytes, sql: string, values: readonly number[] = []): Promise<number> {
    const destination = await this.#names.sought(destinationId)
    return this.#transactions.write(async (queries) => {
      await assertShardsOwned(queries, this.#transactions.fence, [shard])
      return queries.run(sql, [destination, shard, ...values])
    })
  }

  async state(): Promise<BudgetState | undefined> {
    const rows = await this.#transactions.pool.query<BudgetState & Record<string, unknown>>(
      'SELECT used, max_bytes AS "maxBytes", largest, at FROM backlog_state',
    )
    return rows[0]
  }
}

type HeldRow = HeldBytes & Record<string, unknown>
type WaitingRow = { readonly destinationId: string; readonly shard: number; readonly events: number }

export const KEPT = `
  SELECT partition % $1 AS shard, sum(bytes)::bigint AS bytes FROM kept_total WHERE records > 0 GROUP BY partition % $1`
const LETTERS = `
  SELECT name.name AS "destinationId", partition % $1 AS shard, sum(letter_bytes)::bigint AS bytes
  FROM backlog JOIN name ON name.id = destination WHERE letter_bytes > 0 GROUP BY name.name, partition % $1`
// Without the condition, a destination that waits for new events alone would answer for the kept records of others.
const WAITING = `
  WITH kept AS (
    SELECT t.partition, (SELECT max(k."offset") FROM kept_record k WHERE k.partition = t.partition) AS last
    FROM kept_total t WHERE records > 0
  )
  SELECT name.name AS "destinationId", w.shard, sum(w.events)::bigint AS events
  FROM shard_waiting w JOIN name ON name.id = w.destination
  WHERE w.events > 0 AND EXISTS (
    SELECT 1 FROM kept WHERE kept.partition % $1 = w.shard AND (
      NOT EXISTS (SELECT 1 FROM position p
        WHERE p.reader = w.destination AND p.partition = kept.partition AND p."offset" > kept.last)
      OR EXISTS (SELECT 1 FROM journey j
        WHERE j.destination = w.destination AND j.partition = kept.partition AND j.outcome = 'waiting'
          AND j."offset" <= kept.last)
    )
  ) GROUP BY name.name, w.shard`
const PUT_STATE = `
  INSERT INTO backlog_state (id, used, max_bytes, largest, at) VALUES (1, $1, $2, $3, $4)
  ON CONFLICT (id) DO UPDATE SET used = excluded.used, max_bytes = excluded.max_bytes, largest = excluded.largest,
    at = excluded.at`
const PUT_ORDERS = `
  INSERT INTO backlog_order (destination, shard, bytes)
  SELECT destination, shard, bytes FROM json_to_recordset($1::json) AS row(destination bigint, shard bigint, bytes bigint)
  ON CONFLICT (destination, shard) DO UPDATE SET bytes = excluded.bytes`
const ORDERS = `
  SELECT name.name AS "destinationId", shard, bytes FROM backlog_order JOIN name ON name.id = destination
  WHERE $1::bigint[] IS NULL OR shard = ANY ($1) ORDER BY shard, destination`
