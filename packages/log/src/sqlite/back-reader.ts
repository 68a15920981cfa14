import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import type { BackReadResult, Offset } from '../event-log.ts'
import { frame } from '../frames.ts'
import { DamagedSegmentError, type EncodedRecord, guardDamage } from './segment.ts'
import { hasWal, isBlank, segmentPath } from './segment-files.ts'

/**
 * Reads the segments of a directory backwards, beside the thread that writes, checkpoints and drops them. A connection
 * is open for one read only, so it never keeps a segment from being checkpointed or dropped for longer than that.
 */
export class BackReader {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @see EventLog.readBack */
  read(before: Offset, maxBytes: number): BackReadResult {
    for (const first of this.#segmentsBelow(before)) {
      const records = this.#readSegment(first, before, maxBytes)
      if (records.length > 0) return { frames: frame(records), next: records.at(-1)!.offset }
    }
    return { frames: frame([]), next: 0 }
  }

  /** First offsets, newest first. */
  #segmentsBelow(offset: Offset): Offset[] {
    return readdirSync(this.#directory)
      .flatMap((name) => /^(\d+)\.db$/.exec(name)?.[1] ?? [])
      .map(Number)
      .filter((first) => first < offset)
      .sort((a, b) => b - a)
  }

  #readSegment(first: Offset, before: Offset, maxBytes: number): EncodedRecord[] {
    const path = segmentPath(this.#directory, first)
    for (let isLastTry = false; ; isLastTry = true) {
      try {
        return isBlank(path) ? [] : guardDamage(path, () => readRecords(path, before, maxBytes))
      } catch (error) {
        // It was dropped, or its WAL was moved into its file between the look and the opening: then it reads well now.
        if (!isLastTry) continue
        if (error instanceof DamagedSegmentError || (error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    }
  }
}

function readRecords(path: string, before: Offset, maxBytes: number): EncodedRecord[] {
  const location = pathToFileURL(path)
  // Without a WAL nobody writes the file any more: SQLite needs no locks and no side files for it.
  if (!hasWal(path)) location.search = '?immutable=1'
  const database = new DatabaseSync(location, { readOnly: true, timeout: 1_000 })
  try {
    const rows = database.prepare(
      `SELECT offset, crc, bytes FROM live WHERE offset < ?1
       UNION ALL SELECT offset, crc, bytes FROM import WHERE offset < ?1 ORDER BY offset DESC`,
    )
    const found: EncodedRecord[] = []
    let left = maxBytes
    for (const row of rows.iterate(before)) {
      const { offset, crc, bytes } = row as unknown as EncodedRecord & { crc: number }
      // The log's own thread finds damage and sets the segment aside; whoever looks back passes it over.
      if (crc32(bytes) !== crc) continue
      if (found.length > 0 && bytes.length > left) break
      found.push({ offset, bytes })
      left -= bytes.length
    }
    return found
  } finally {
    database.close()
  }
}
