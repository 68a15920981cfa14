import type { DatabaseSync } from 'node:sqlite'
import { STREAMS } from '../../event-log.ts'
import { partitionOfStream, type StreamNumber, streamNumber, streamOfNumber } from './stream-number.ts'

/** `live`, `import` for backfills as in segments of earlier releases, and `live_7`, `import_7` in partition 7. */
export function streamTable(number: StreamNumber): string {
  const table = streamOfNumber(number) === 'live' ? 'live' : 'import'
  const partition = partitionOfStream(number)
  return partition === 0 ? table : `${table}_${partition}`
}

/** The streams that have a table in a segment. Both of partition 0 always do: a segment without them is damaged. */
export function streamsIn(database: DatabaseSync): StreamNumber[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const others = tables.flatMap(({ name }) => {
    const [, table, partition] = /^(live|import)_(\d+)$/.exec(String(name)) ?? []
    return table === undefined ? [] : [streamNumber(Number(partition), table === 'live' ? 'live' : 'backfill')]
  })
  return [...STREAMS.map((stream) => streamNumber(0, stream)), ...others]
}

/** SQL of the records of some streams under a condition, in the order of their offsets. @param more columns besides these. */
export function selectRecords(
  tables: readonly string[],
  condition: string,
  { order = 'ASC', more = '' }: { readonly order?: 'ASC' | 'DESC'; readonly more?: string } = {},
): string {
  const selects = tables.map((table) => `SELECT offset, crc, bytes${more} FROM ${table} WHERE ${condition}`)
  return `${selects.join(' UNION ALL ')} ORDER BY offset ${order}`
}
