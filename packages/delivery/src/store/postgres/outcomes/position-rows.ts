import type { PositionWrite } from '../../outcomes/flush.ts'
import type { NumberOf } from './journey-rows.ts'

/** Rows of `position` as JSON; the last of each place. */
export function positionsAsJson(positions: readonly PositionWrite[], names: NumberOf): string {
  const rows = new Map<string, object>()
  for (const { reader, partition, stream, position } of positions) {
    const row = { reader: names(reader), partition, stream, offset: position.offset, idx: position.index }
    rows.set(`${row.reader} ${partition} ${stream}`, row)
  }
  return JSON.stringify([...rows.values()])
}

/** SQL that writes positions. @param rows SQL of `positionsAsJson`. */
export function upsertPositions(rows: string, where = 'TRUE'): string {
  return `
    INSERT INTO position (reader, partition, stream, "offset", idx) SELECT reader, partition, stream, "offset", idx
    FROM json_to_recordset(${rows}::json)
      AS row(reader bigint, partition bigint, stream bigint, "offset" bigint, idx bigint) WHERE ${where}
    ON CONFLICT (reader, partition, stream) DO UPDATE SET "offset" = excluded."offset", idx = excluded.idx`
}
