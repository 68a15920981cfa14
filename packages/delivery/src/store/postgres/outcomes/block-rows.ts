import type { PlacedBlock } from '../flush/block-writes.ts'
import { type NumberOf, replayNumber } from './journey-rows.ts'

/** Rows of `block` as JSON, and their entries one behind the other. */
export function blocksAsJson(
  blocks: readonly PlacedBlock[],
  { day, writer, names }: { day: number; writer: number; names: NumberOf },
): { rows: string; entries: Buffer } {
  let from = 1
  const rows = blocks.map((block) => {
    const row = {
      day,
      writer,
      number: block.number,
      destination: names(block.destinationId),
      partition: block.partition,
      revision: block.revision,
      replay: replayNumber(block.replayId, names),
      first_offset: block.firstOffset,
      last_offset: block.lastOffset,
      last_at: block.lastAt,
      from,
      length: block.entries.length,
    }
    from += block.entries.length
    return row
  })
  return { rows: JSON.stringify(rows), entries: Buffer.concat(blocks.map(({ entries }) => entries)) }
}

const COLUMNS = [
  ...['day', 'writer', 'number', 'destination', 'partition', 'revision', 'replay', 'first_offset', 'last_offset'],
  'last_at',
]

/** SQL that writes blocks: new rows, or entries added to the rows that exist. @param rows, entries SQL of `blocksAsJson`. */
export function upsertBlocks(rows: string, entries: string, where = 'TRUE'): string {
  return `
    INSERT INTO block AS b (${COLUMNS.join(', ')}, entries)
    SELECT ${COLUMNS.map((name) => `row.${name}`).join(', ')}, substring(${entries}::bytea FROM row."from" FOR row.length)
    FROM json_to_recordset(${rows}::json)
      AS row(${COLUMNS.map((name) => `${name} bigint`).join(', ')}, "from" integer, length integer)
    WHERE ${where}
    ON CONFLICT (day, writer, number) DO UPDATE SET
      first_offset = least(b.first_offset, excluded.first_offset), last_offset = greatest(b.last_offset, excluded.last_offset),
      last_at = greatest(b.last_at, excluded.last_at), entries = b.entries || excluded.entries`
}
