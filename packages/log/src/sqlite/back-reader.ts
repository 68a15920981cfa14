import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import type { FramedResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import { DamagedSegmentError, type EncodedRecord, guardDamage, hasTable } from './segment.ts'
import { hasWal, isBlank, segmentPath } from './segment-files.ts'

/**
 * Reads the segments of a directory beside the thread that writes, checkpoints and drops them. A connection
 * is open for one read only, so it never keeps a segment from being checkpointed or dropped for longer than that.
 */
export class BackReader {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @see EventLog.readBack */
  read(before: Offset, maxBytes: number): FramedResult {
    for (const first of this.#segments()) {
      if (first >= before) continue
      const records = this.#readSegment(first, BACKWARDS, before, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset }
    }
    return { frames: frame([]), next: 0 }
  }

  /** @see EventLog.scan; `next` is `from` where nothing is. */
  scan(from: Offset, maxBytes: number): FramedResult {
    const firsts = this.#segments().reverse()
    const holder = Math.max(
      0,
      firsts.findLastIndex((first) => first <= from),
    )
    for (const first of firsts.slice(holder)) {
      const records = this.#readSegment(first, FORWARDS, from, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset + 1 }
    }
    return { frames: frame([]), next: from }
  }

  /** First offsets, newest first. */
  #segments(): Offset[] {
    return readdirSync(this.#directory)
      .flatMap((name) => /^(\d+)\.db$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => b - a)
  }

  #readSegment(first: Offset, direction: Direction, place: Offset, maxBytes: number): EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    for (let isLastTry = false; ; isLastTry = true) {
      try {
        return isBlank(path) ? [] : guardDamage(path, () => readRecords(path, direction, place, maxBytes))
      } catch (error) {
        // It was dropped, or its WAL was moved into its file between the look and the opening: then it reads well now.
        if (!isLastTry) continue
        if (error instanceof DamagedSegmentError || (error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    }
  }
}

interface Direction {
  readonly condition: string
  readonly order: 'ASC' | 'DESC'
}

const BACKWARDS: Direction = { condition: 'offset < ?1', order: 'DESC' }
const FORWARDS: Direction = { condition: 'offset >= ?1', order: 'ASC' }

function readRecords(path: string, { condition, order }: Direction, place: Offset, maxBytes: number): EncodedRecord[] {
  const location = pathToFileURL(path)
  // Without a WAL nobody writes the file any more: SQLite needs no locks and no side files for it.
  if (!hasWal(path)) location.search = '?immutable=1'
  const database = new DatabaseSync(location, { readOnly: true, timeout: 1_000 })
  try {
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
      // The log's own thread finds damage and sets the segment aside; whoever looks back passes it over.
      if (crc32(bytes) !== crc) continue
      if (found.length > 0 && bytes.length > left) break
      const duplicates = duplicatesOf?.get(offset)?.['indexes'] as Uint8Array | undefined
      found.push(duplicates === undefined ? { offset, bytes } : { offset, bytes, duplicates })
      left -= bytes.length
    }
    return found
  } finally {
    database.close()
  }
}
