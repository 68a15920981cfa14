import type { BacklogRow, BacklogStore, KeptRecord } from '../backlog-store.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/** Rows of one query that only reads sizes. */
const SIZES_TOGETHER = 1_000

/** The bytes that destinations hold, and records that some destination still needs after they left the log. */
export class PostgresBacklog implements BacklogStore {
  readonly #transactions: Transactions
  readonly #names: StoredNames

  constructor(transactions: Transactions, names: StoredNames) {
    this.#transactions = transactions
    this.#names = names
  }

  byDestination(): Promise<BacklogRow[]> {
    return this.#transactions.pool.query<BacklogRow & Record<string, unknown>>(
      `SELECT name.name AS "destinationId", sum(letters)::bigint AS letters, sum(letter_bytes)::bigint AS "letterBytes",
         sum(expired)::bigint AS expired
       FROM backlog JOIN name ON name.id = destination GROUP BY name.name`,
    )
  }

  async keepRecords({ partition, records }: Parameters<BacklogStore['keepRecords']>[0]): Promise<void> {
    const number = await this.#names.numbers(records.map(({ sourceId }) => sourceId))
    await this.#transactions.writeOwned([partition], async (queries) => {
      for (const { offset, stream, sourceId, events, bytes, duplicates } of records) {
        await queries.run(KEEP, [partition, offset, stream, number(sourceId), events, bytes, duplicates])
      }
    })
  }

  async readKept({
    partition,
    stream,
    from,
    maxBytes,
  }: Parameters<BacklogStore['readKept']>[0]): Promise<KeptRecord[]> {
    const sizes = await this.#transactions.pool.query<{ offset: number; bytes: number }>(SIZES, [
      partition,
      stream,
      from,
    ])
    let left = maxBytes
    const offsets: number[] = []
    for (const { offset, bytes } of sizes) {
      // At least one record if there is one.
      if (offsets.length > 0 && bytes > left) break
      offsets.push(offset)
      left -= bytes
    }
    return this.getKept({ partition, offsets })
  }

  getKept({ partition, offsets }: Parameters<BacklogStore['getKept']>[0]): Promise<KeptRecord[]> {
    if (offsets.length === 0) return Promise.resolve([])
    return this.#transactions.pool.query<KeptRecord & Record<string, unknown>>(GET, [partition, offsets])
  }

  async tallyKept(request: Parameters<BacklogStore['tallyKept']>[0]): ReturnType<BacklogStore['tallyKept']> {
    const { partition, stream, from, to } = request
    const rows = await this.#transactions.pool.query<{ sourceId: string; events: number; bytes: number }>(TALLY, [
      ...[partition, stream, from, to],
    ])
    return rows.map(({ sourceId, events, bytes }) => [sourceId, { events, bytes }])
  }

  keptRanges(): Promise<{ partition: number; from: number; to: number }[]> {
    return this.#transactions.pool.query(
      `SELECT t.partition, k."from", k."to" FROM kept_total t CROSS JOIN LATERAL (
         SELECT min("offset") AS "from", max("offset") + 1 AS "to" FROM kept_record WHERE partition = t.partition
       ) k WHERE t.records > 0 ORDER BY t.partition`,
    )
  }

  async dropKept({ partition, before }: Parameters<BacklogStore['dropKept']>[0]): Promise<void> {
    await this.#transactions.writeOwned([partition], async (queries) => {
      await queries.run('DELETE FROM kept_record WHERE partition = $1 AND "offset" < $2', [partition, before])
    })
  }
}

const KEEP = `
  INSERT INTO kept_record (partition, "offset", stream, source, events, bytes, duplicates) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT DO NOTHING`
const SIZES = `
  SELECT "offset", octet_length(bytes)::bigint AS bytes FROM kept_record
  WHERE partition = $1 AND stream = $2 AND "offset" >= $3 ORDER BY "offset" LIMIT ${SIZES_TOGETHER}`
const GET = `
  SELECT "offset", stream, name.name AS "sourceId", events, bytes, duplicates FROM kept_record JOIN name ON name.id = source
  WHERE partition = $1 AND "offset" = ANY ($2) ORDER BY "offset"`
const TALLY = `
  SELECT name.name AS "sourceId", sum(events)::bigint AS events, sum(octet_length(bytes))::bigint AS bytes
  FROM kept_record JOIN name ON name.id = source
  WHERE partition = $1 AND stream = $2 AND "offset" >= $3 AND "offset" < $4 GROUP BY name.name`
