import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import { lostCommits, streamsIn, streamTable } from '@millrace/log'
import { roomNeeded, ScratchFolder } from './scratch-folder.ts'

export interface SegmentReport {
  readonly records: number
  /** Records that fail their checksums; at most the first 1,000. */
  readonly damagedOffsets: readonly number[]
  /** Damage in its WAL cut off records that were acknowledged: they are not among those. */
  readonly isCut: boolean
}

/** The file is not a database of ours, or cannot be read. */
export class SegmentUnreadableError extends Error {
  override readonly name = 'SegmentUnreadableError'
  readonly code = 'segment_unreadable'
}

const MAX_OFFSETS = 1_000

/**
 * Reads and checks every record of a segment, while a server may have the log open. SQLite would create or change files
 * beside a database with a WAL even to read it, so such a segment is copied first.
 *
 * @returns `gone` if the file no longer exists.
 * @throws SegmentUnreadableError
 */
export function readSegment(path: string, first: number): SegmentReport | 'gone' {
  if (!existsSync(path)) return 'gone'
  if (walBytesOf(path) === 0) return guarded(path, () => readRecords(path, first, 'as it is'))
  try {
    const report = readCopy(path, first)
    if (report === 'gone' || report.damagedOffsets.length === 0 || walBytesOf(path) > 0) return report
  } catch (error) {
    if (walBytesOf(path) > 0) throw error
  }
  // A checkpoint ran during the copy: errors in the copy mean nothing.
  return readSegment(path, first)
}

function readCopy(path: string, first: number): SegmentReport | 'gone' {
  const needed = 2 * (walBytesOf(path) + (statSync(path, { throwIfNoEntry: false })?.size ?? 0))
  using folder = ScratchFolder.forBytes(needed)
  if (folder === undefined) throw new SegmentUnreadableError(`a copy of it ${roomNeeded(needed)}`)
  const copy = join(folder.path, 'segment.db')
  return guarded(path, () => {
    // The WAL is copied first: pages that a checkpoint moves meanwhile are then duplicated instead of lost.
    copyFileSync(`${path}-wal`, `${copy}-wal`)
    copyFileSync(path, copy)
    const isCut = lostCommits(`${copy}-wal`) !== 'none'
    return { ...readRecords(copy, first, 'with its WAL'), isCut }
  })
}

function walBytesOf(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

function readRecords(path: string, first: number, way: 'as it is' | 'with its WAL'): SegmentReport {
  // SQLite reads an empty file as an empty database; a segment is never empty.
  if (statSync(path).size === 0) throw new Error('the file is empty')
  const location = pathToFileURL(path)
  if (way === 'as it is') location.search = '?immutable=1'
  const database = new DatabaseSync(location, { readOnly: way === 'as it is' })
  try {
    let records = 0
    if (isBlank(database)) return { records, damagedOffsets: [], isCut: false }
    const damagedOffsets: number[] = []
    for (const stream of streamsIn(database)) {
      for (const row of database
        .prepare(`SELECT offset, crc, bytes FROM ${streamTable(stream)} ORDER BY offset`)
        .iterate()) {
        const { offset, crc, bytes } = row as { offset: number; crc: number; bytes: Uint8Array }
        records++
        const isWhole = bytes instanceof Uint8Array && crc32(bytes) === crc && offset >= first
        if (!isWhole && damagedOffsets.length < MAX_OFFSETS) damagedOffsets.push(offset)
      }
    }
    return { records, damagedOffsets, isCut: false }
  } finally {
    database.close()
  }
}

/** A segment that was created and never written has no tables. */
function isBlank(database: DatabaseSync): boolean {
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { tables: number }
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number }
  return tables === 0 && pages <= 1
}

function guarded(path: string, work: () => SegmentReport): SegmentReport | 'gone' {
  try {
    return work()
  } catch (error) {
    if (!existsSync(path)) return 'gone'
    throw new SegmentUnreadableError((error as Error).message, { cause: error })
  }
}
