import type { PlaceStore } from '../place-store.ts'
import { positionsAsJson, upsertPositions } from './outcomes/position-rows.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/** Rows of the table of positions, written by the owners of the partitions. */
export class PostgresPlaces implements PlaceStore {
  readonly #transactions: Transactions
  readonly #names: StoredNames

  constructor(transactions: Transactions, names: StoredNames) {
    this.#transactions = transactions
    this.#names = names
  }

  async of(reader: string): Promise<ReadonlyMap<number, number>> {
    const rows = await this.#transactions.pool.query<{ partition: number; offset: number }>(
      'SELECT partition, "offset" FROM position WHERE reader = $1',
      [await this.#names.sought(reader)],
    )
    return new Map(rows.map(({ partition, offset }) => [partition, offset]))
  }

  async write({ reader, partition, offset }: Parameters<PlaceStore['write']>[0]): Promise<void> {
    const number = await this.#names.numbers([reader])
    const position = { reader, partition, stream: 0, position: { offset, index: 0 } }
    await this.#transactions.writeOwned([partition], async (queries) => {
      await queries.run(upsertPositions('$1'), [positionsAsJson([position], number)])
    })
  }
}
