import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { FramedResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath } from './segments/segment-files.ts'
import { lookInto, segmentsFrom, segmentsIn } from './segments/segment-look.ts'
import { hasTable } from './segments/segment-tables.ts'

/** Reads the segments of a directory in both directions, concurrently with the log thread. */
export class BackReader {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @see EventLog.readBack */
  read(before: Offset, maxBytes: number): FramedResult {
    const below = segmentsIn(this.#directory).filter((first) => first < before)
    for (const first of below.reverse()) {
      const records = this.#readSegment(first, BACKWARDS, before, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset }
    }
    return { frames: frame([]), next: 0 }
  }

  /** @see EventLog.scan; `next` is `from` if there are no records. */
  scan(from: Offset, maxBytes: number): FramedResult {
    for (const first of segmentsFrom(segmentsIn(this.#directory), from)) {
      const records = this.#readSegment(first, FORWARDS, from, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset + 1 }
    }
    return { frames: frame([]), next: from }
  }

  #readSegment(first: Offset, direction: Direction, place: Offset, maxBytes: number): EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      return lookInto(path, (database) => readRecords(database, direction, place, maxBytes)) ?? []
    } catch (error) {
      if (error instanceof DamagedSegmentError) return []
      throw error
    }
  }
}

interface Direction {
  readonly condition: string
  readonly order: 'ASC' | 'DESC'
}

const BACKWARDS: Direction = { condition: 'offset < ?1', order: 'DESC' }
const FORWARDS: Direction = { condition: 'offset >= ?1', order: 'ASC' }

function readRecords(
  database: DatabaseSync,
  { condition, order }: Direction,
  place: Offset,
  maxBytes: number,
): EncodedRecord[] {
  const rows = database.prepare(
    `SELECT offset, crc, bytes FROM live WHERE ${condition}
     UNION ALL SELECT offset, crc, bytes FROM import WHERE ${condition} ORDER BY offset ${order}`,
  )
  const duplicatesOf = hasTable(database, 'duplicates')
    ? database.prepare('SELECT indexes FROM duplicates WHERE offset = ?')
    : undefined
  const found: EncodedRecord[] = []
  let left = maxBytes
  for (const row of rows.iterate(place)) {
    const { offset, crc, bytes } = row as unknown as EncodedRecord & { crc: number }
    // Skips damage; the log thread finds it and sets the segment aside.
    if (crc32(bytes) !== crc) continue
    if (found.length > 0 && bytes.length > left) break
    const duplicates = duplicatesOf?.get(offset)?.['indexes'] as Uint8Array | undefined
    found.push(duplicates === undefined ? { offset, bytes } : { offset, bytes, duplicates })
    left -= bytes.length
  }
  return found
}
