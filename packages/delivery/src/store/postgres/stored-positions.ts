import type { PostgresPool } from '@millrace/postgres'

/** Where a reader goes on in one stream of a partition, as it is stored. */
export interface StoredPosition {
  /** The id of a destination, or the name of another reader. */
  readonly reader: string
  readonly partition: number
  /** 0: live, 1: backfill. */
  readonly stream: number
  readonly offset: number
}

/** All positions, for people. */
export function storedPositions(pool: PostgresPool): Promise<StoredPosition[]> {
  return pool.query<StoredPosition>(
    `SELECT name.name AS reader, partition, stream, "offset" FROM position JOIN name ON name.id = reader
     ORDER BY partition, stream, name.name`,
  )
}
