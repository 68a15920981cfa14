import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { FramedResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import type { EncodedRecord } from './segments/commit.ts'
import { DamagedSegmentError } from './segments/damaged-segment.ts'
import { segmentPath } from './segments/segment-files.ts'
import { lookInto, segmentsFrom, segmentsIn } from './segments/segment-look.ts'
import { hasTable } from './segments/segment-tables.ts'
import { partitionOfStream } from './segments/stream-number.ts'
import { streamsIn, streamTable } from './segments/stream-table.ts'

/** Reads the segments of a directory in both directions, concurrently with the log thread. */
export class BackReader {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @see EventLog.readBack */
  read(partition: number, before: Offset, maxBytes: number): FramedResult {
    const below = segmentsIn(this.#directory).filter((first) => first < before)
    for (const first of below.reverse()) {
      const records = this.#readSegment(first, { partition, ...BACKWARDS, place: before }, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset }
    }
    return { frames: frame([]), next: 0 }
  }

  /** @see EventLog.scan; `next` is `from` if there are no records. */
  scan(partition: number, from: Offset, maxBytes: number): FramedResult {
    for (const first of segmentsFrom(segmentsIn(this.#directory), from)) {
      const records = this.#readSegment(first, { partition, ...FORWARDS, place: from }, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset + 1 }
    }
    return { frames: frame([]), next: from }
  }

  #readSegment(first: Offset, wanted: Wanted, maxBytes: number): EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    try {
      return lookInto(path, (database) => readRecords(database, wanted, maxBytes)) ?? []
    } catch (error) {
      if (error instanceof DamagedSegmentError) return []
      throw error
    }
  }
}

interface Wanted {
  readonly partition: number
  readonly condition: string
  readonly order: 'ASC' | 'DESC'
  readonly place: Offset
}

const BACKWARDS = { condition: 'offset < ?1', order: 'DESC' } as const
const FORWARDS = { condition: 'offset >= ?1', order: 'ASC' } as const

function readRecords(
  database: DatabaseSync,
  { partition, condition, order, place }: Wanted,
  maxBytes: number,
): EncodedRecord[] {
  const tables = streamsIn(database).filter((stream) => partitionOfStream(stream) === partition)
  if (tables.length === 0) return []
  const selects = tables.map((stream) => `SELECT offset, crc, bytes FROM ${streamTable(stream)} WHERE ${condition}`)
  const rows = database.prepare(`${selects.join(' UNION ALL ')} ORDER BY offset ${order}`)
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
