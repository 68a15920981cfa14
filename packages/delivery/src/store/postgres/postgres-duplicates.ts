import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import {
  type DecidedRange,
  DUPLICATES_READER,
  type DuplicateStore,
  type KeyPart,
  type ShardDecisions,
  type StoredDuplicates,
} from '../duplicate-store.ts'
import { type DayTables, dayOf } from './day-tables.ts'
import { positionsAsJson, upsertPositions } from './outcomes/position-rows.ts'
import { digestOf, type StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/** Rows of one query of keys; each holds at most some seconds of a shard. */
const KEYS_TOGETHER = 200

/** Reads which events are duplicates. */
export class PostgresStoredDuplicates implements StoredDuplicates {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  async of(partition: number, offsets: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    if (offsets.length === 0) return NONE
    const rows = await this.#pool.query<{ offset: number; indexes: Buffer }>(
      'SELECT "offset", indexes FROM duplicate WHERE partition = $1 AND "offset" = ANY ($2)',
      [partition, offsets],
    )
    return new Map(rows.map(({ offset, indexes }) => [offset, indexes]))
  }

  async decisions(partition: number, from: number, to: number): Promise<DecidedRange> {
    const decided = (await this.decidedTo()).get(partition) ?? from
    const rows = await this.#pool.query<{ offset: number; indexes: Buffer }>(
      'SELECT "offset", indexes FROM duplicate WHERE partition = $1 AND "offset" >= $2 AND "offset" < $3',
      [partition, from, to],
    )
    const duplicates = rows.map(({ offset, indexes }) => [offset, indexesOf(indexes)] as const)
    return { to: Math.min(to, Math.max(from, decided)), duplicates: new Map(duplicates) }
  }

  async decidedTo(): Promise<ReadonlyMap<number, number>> {
    const rows = await this.#pool.query<{ partition: number; offset: number }>(DECIDED_TO, [DUPLICATES_READER])
    return new Map(rows.map(({ partition, offset }) => [partition, offset]))
  }
}

export const DECIDED_TO = `
  SELECT partition, "offset" FROM position WHERE reader = (SELECT id FROM name WHERE digest = ${digestOf('$1')})`

export function indexesOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(i * 2))
}

const NONE: ReadonlyMap<number, Uint8Array> = new Map()

export interface PostgresDuplicatesOptions {
  readonly transactions: Transactions
  readonly names: StoredNames
  readonly days: DayTables
  readonly clock: Clock
}

/** Rows of records with duplicates, and the keys of each shard by the day on which they were written. */
export class PostgresDuplicates extends PostgresStoredDuplicates implements DuplicateStore {
  readonly #options: PostgresDuplicatesOptions

  constructor(options: PostgresDuplicatesOptions) {
    super(options.transactions.pool)
    this.#options = options
  }

  async write(decisions: readonly ShardDecisions[]): Promise<void> {
    const { transactions, names, days, clock } = this.#options
    const day = dayOf(clock.now())
    await days.make(day)
    const number = await names.numbers([DUPLICATES_READER])
    const places = decisions.flatMap(({ positions }) => positions)
    const positions = places.map(([partition, offset]) => {
      return { reader: DUPLICATES_READER, partition, stream: 0, position: { offset, index: 0 } }
    })
    const duplicates = decisions.flatMap((each) => each.duplicates)
    const keys = decisions.flatMap(({ shard, keys: ofShard }) => ofShard.map((each) => ({ shard, ...each })))
    const partitions = places.map(([partition]) => partition)
    await transactions.writeOwned(partitions, async (queries) => {
      if (duplicates.length > 0) {
        await queries.run(PUT_DUPLICATES, [
          duplicates.map(({ partition }) => partition),
          duplicates.map(({ offset }) => offset),
          duplicates.map(({ indexes }) => Buffer.from(indexes).toString('hex')),
        ])
      }
      if (keys.length > 0) {
        await queries.run(PUT_KEYS, [
          day,
          keys.map(({ shard }) => shard),
          keys.map(({ kind }) => kind),
          keys.map(({ lastAt }) => lastAt),
          keys.map(({ entries }) => Buffer.from(entries).toString('hex')),
        ])
      }
      await queries.run(upsertPositions('$1'), [positionsAsJson(positions, number)])
    })
  }

  async *keys({ shard, since }: { shard: number; since: number }): AsyncIterable<readonly KeyPart[]> {
    const { transactions, days } = this.#options
    // The primary key begins with the day: without it each read would go over all days of all shards.
    for (const { day } of (await days.list('dedup_keys')).toReversed()) {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        const rows = await transactions.pool.query<KeyPart & { number: number } & Record<string, unknown>>(KEYS, [
          day,
          shard,
          before,
          since,
        ])
        if (rows.length > 0) yield rows.map(({ kind, lastAt, entries }) => ({ kind, lastAt, entries }))
        if (rows.length < KEYS_TOGETHER) break
        before = rows.at(-1)!.number
      }
    }
  }

  async newest({ partition, limit }: { partition: number; limit: number }): ReturnType<DuplicateStore['newest']> {
    const rows = await this.#options.transactions.pool.query<{ offset: number; indexes: Buffer }>(
      'SELECT "offset", indexes FROM duplicate WHERE partition = $1 ORDER BY "offset" DESC LIMIT $2',
      [partition, limit],
    )
    return rows.reverse().map(({ offset, indexes }) => [offset, indexes])
  }
}

const PUT_DUPLICATES = `
  INSERT INTO duplicate (partition, "offset", indexes)
  SELECT partition, "offset", decode(indexes, 'hex')
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS row(partition, "offset", indexes)
  ON CONFLICT DO NOTHING`
const PUT_KEYS = `
  INSERT INTO dedup_keys (day, shard, number, kind, last_at, entries)
  SELECT $1, shard, nextval('dedup_keys_number'), kind, last_at, decode(entries, 'hex')
  FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS row(shard, kind, last_at, entries)`
const KEYS = `
  SELECT number, kind, last_at AS "lastAt", entries FROM dedup_keys
  WHERE day = $1 AND shard = $2 AND number < $3 AND last_at >= $4 ORDER BY number DESC LIMIT ${KEYS_TOGETHER}`
