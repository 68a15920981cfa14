import type { Clock } from '@millrace/std'
import { bucketOf, entriesByBucket, findInEntries, type MessageStore } from '../message-store.ts'
import { type DayTables, dayOf } from './day-tables.ts'
import { positionsAsJson, upsertPositions } from './outcomes/position-rows.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

export interface PostgresMessagesOptions {
  readonly transactions: Transactions
  readonly names: StoredNames
  readonly days: DayTables
  readonly clock: Clock
}

/** Finds the places of accepted events by the hashes of their messageIds. The database searches the chunks. */
export class PostgresMessages implements MessageStore {
  readonly #options: PostgresMessagesOptions

  constructor(options: PostgresMessagesOptions) {
    this.#options = options
  }

  async write({ partition, lastOffset, entries, position }: Parameters<MessageStore['write']>[0]): Promise<void> {
    const { transactions, names, days, clock } = this.#options
    const day = dayOf(clock.now())
    await days.make(day)
    const number = await names.numbers([position.reader])
    const buckets = entriesByBucket(entries)
    await transactions.writeOwned([partition], async (queries) => {
      await queries.run(
        `INSERT INTO message_hashes (day, bucket, partition, last_offset, entries)
         SELECT $1, bucket, $2, $3, decode(entries, 'hex') FROM unnest($4::bigint[], $5::text[]) AS row(bucket, entries)`,
        [day, partition, lastOffset, [...buckets.keys()], [...buckets.values()].map((part) => part.toString('hex'))],
      )
      await queries.run(upsertPositions('$1'), [positionsAsJson([position], number)])
    })
  }

  async find(hash: Uint8Array): Promise<{ partition: number; offset: number; index: number }[]> {
    const wanted = Buffer.from(hash)
    const rows = await this.#options.transactions.pool.query<{ partition: number; entries: Buffer }>(
      'SELECT partition, entries FROM message_hashes WHERE bucket = $1 AND position($2::bytea IN entries) > 0',
      [bucketOf(wanted), wanted],
    )
    return rows.flatMap(({ partition, entries }) =>
      [...findInEntries(entries, wanted)].map((place) => ({ partition, ...place })),
    )
  }
}
