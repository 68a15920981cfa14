import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { counted, grouped } from '@millrace/wording'
import type { Output } from '../command-io.ts'
import { size } from '../paint.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { readSegment, type SegmentReport, SegmentUnreadableError } from './segment-reader.ts'

export interface LogCheckOptions {
  /** Skips reading every record. */
  readonly isQuick: boolean
  readonly progress: Output
}

interface SegmentFiles {
  readonly first: number
  readonly path: string
  readonly bytes: number
}

/** Checks the segments of the log: present and damaged segments, and every record. */
export function* checkLog(dataFolder: string, { isQuick, progress }: LogCheckOptions): Generator<Finding> {
  const directory = join(dataFolder, 'log')
  if (!existsSync(directory)) {
    yield ok('log', 'none yet')
    return
  }
  const segments = listSegments(directory, '.db')
  const damaged = listSegments(directory, '.db.damaged')
  yield ok('log', summary(segments))
  for (const { first, path, bytes } of damaged) {
    const next = [...segments, ...damaged].map((each) => each.first).filter((other) => other > first)
    const range = next.length === 0 ? `from ${first} on` : `${first} to ${Math.min(...next) - 1}`
    yield warn('damaged', `${path} (${size(bytes)}) was set aside: offsets ${range} are lost`)
  }
  if (segments.length === 0) return
  if (isQuick) {
    yield ok('records', 'not read (--quick)')
    return
  }
  yield* checkRecords(segments, progress)
}

function* checkRecords(segments: readonly SegmentFiles[], progress: Output): Generator<Finding> {
  let records = 0
  let isAllWell = true
  for (const [i, { path, first }] of segments.entries()) {
    if (progress.isTTY) progress.write(`\rreading segment ${i + 1} of ${segments.length}`)
    let report: SegmentReport | 'gone'
    try {
      report = readSegment(path, first)
    } catch (error) {
      if (!(error instanceof SegmentUnreadableError)) throw error
      isAllWell = false
      yield fail('records', `${path} cannot be read: ${error.message}`)
      continue
    } finally {
      if (progress.isTTY) progress.write('\r\u001b[K')
    }
    // Retention may have deleted it since it was listed.
    if (report === 'gone') continue
    records += report.records
    if (report.isCut) {
      isAllWell = false
      yield fail(
        'records',
        `${path}-wal: damage cut off accepted records; the next start serves the rest, and keeps these files as *.damaged`,
      )
    }
    if (report.damagedOffsets.length === 0) continue
    isAllWell = false
    const shown = report.damagedOffsets.slice(0, 10).join(', ')
    const more = report.damagedOffsets.length > 10 ? ` and ${report.damagedOffsets.length - 10} more` : ''
    yield fail(
      'records',
      `${path}: offsets ${shown}${more} fail their checksums; the segment is set aside when they are read`,
    )
  }
  if (isAllWell) yield ok('records', `${grouped(records)} read, every checksum fits`)
}

function summary(segments: readonly SegmentFiles[]): string {
  if (segments.length === 0) return 'empty'
  const bytes = segments.reduce((sum, each) => sum + each.bytes, 0)
  const newest = segments.at(-1)!
  const sizes = segments.map((each) => each.bytes)
  const spread = segments.length === 1 ? '' : ` (${size(Math.min(...sizes))} to ${size(Math.max(...sizes))} each)`
  const count = counted(segments.length, 'segment')
  return `${count}, ${size(bytes)}${spread}; the oldest starts at offset ${segments[0]!.first}, the newest at ${newest.first}`
}

/** Oldest first. */
function listSegments(directory: string, ending: string): SegmentFiles[] {
  return readdirSync(directory)
    .filter((name) => /^\d+$/.test(name.slice(0, -ending.length)) && name.endsWith(ending))
    .map((name) => {
      const path = join(directory, name)
      const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
      return { first: Number.parseInt(name, 10), path, bytes: sizes[0]! + sizes[1]! }
    })
    .sort((a, b) => a.first - b.first)
}
