import type { Span, SpanStore } from '../span-store.ts'
import { assertOwned } from './lease-fence.ts'
import type { Transactions } from './transactions.ts'

/** Ranges of the log in which connections and destinations were active. */
export class PostgresSpans implements SpanStore {
  readonly #transactions: Transactions

  constructor(transactions: Transactions) {
    this.#transactions = transactions
  }

  all(): Promise<Span[]> {
    return this.#transactions.pool.query<Span & Record<string, unknown>>(ALL_SPANS)
  }

  async write({ put, remove }: Parameters<SpanStore['write']>[0]): Promise<void> {
    await this.#transactions.write(async (queries) => {
      const removed = await queries.rows<{ partition: number }>(PARTITIONS_OF, [JSON.stringify(remove)])
      await assertOwned(
        queries,
        this.#transactions.fence,
        [...put, ...removed].map(({ partition }) => partition),
      )
      await queries.run(REMOVE, [JSON.stringify(remove)])
      await queries.run(PUT_SPANS, [JSON.stringify(put)])
    })
  }

  async drop(spans: Parameters<SpanStore['drop']>[0]): Promise<void> {
    const partitions = spans.map(({ partition }) => partition)
    await this.#transactions.writeOwned(partitions, (queries) => queries.run(DROP, [JSON.stringify(spans)]))
  }
}

/** SQL of all spans, with the names of `Span`. */
export const ALL_SPANS = `
  SELECT kind, resource, source AS "sourceId", destination AS "destinationId", partition, from_offset AS "fromOffset",
    to_offset AS "toOffset" FROM span`
const PARTITIONS_OF = `
  SELECT DISTINCT partition FROM span JOIN json_to_recordset($1::json) AS row(kind text, resource text)
    ON span.kind = row.kind AND span.resource = row.resource`
const REMOVE = `
  DELETE FROM span USING json_to_recordset($1::json) AS row(kind text, resource text)
  WHERE span.kind = row.kind AND span.resource = row.resource`
/** SQL that writes a JSON list of spans. */
export const PUT_SPANS = `
  INSERT INTO span (kind, resource, source, destination, partition, from_offset, to_offset)
  SELECT kind, resource, "sourceId", "destinationId", partition, "fromOffset", "toOffset"
  FROM json_to_recordset($1::json) AS row(kind text, resource text, "sourceId" text, "destinationId" text,
    partition bigint, "fromOffset" bigint, "toOffset" bigint)
  ON CONFLICT (kind, resource, partition, from_offset) DO UPDATE SET
    source = excluded.source, destination = excluded.destination, to_offset = excluded.to_offset`
const DROP = `
  DELETE FROM span
  USING json_to_recordset($1::json) AS row(kind text, resource text, partition bigint, "fromOffset" bigint)
  WHERE span.kind = row.kind AND span.resource = row.resource AND span.partition = row.partition
    AND span.from_offset = row."fromOffset"`
