import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Offset } from '../event-log.ts'

export function segmentPath(directory: string, first: Offset): string {
  return join(directory, `${first}.db`)
}

/** Files that SQLite keeps beside a database that is open or was not closed. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Whether a segment was begun but nothing was ever written to it: its file is the one page that `begin` made. */
export function isBlank(path: string): boolean {
  const start = readStart(path, HEADER_BYTES)
  const isOnePage = statSync(path).size === PAGE_BYTES && start.length === HEADER_BYTES
  return isOnePage && start.readUInt32BE(PAGE_COUNT_AT) === 1 && !hasWal(path)
}

/** Size of a page of a segment's database. */
export const PAGE_BYTES = 16_384
/** Of an SQLite file; it says how many pages the database had when it was last written. */
const HEADER_BYTES = 100
const PAGE_COUNT_AT = 28

function readStart(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(bytes)
    return start.subarray(0, readSync(file, start, 0, bytes, 0))
  } finally {
    closeSync(file)
  }
}

/** Gives the files of a segment the ending `.damaged`, for a person to look at; nothing reads them again. */
export function setAside(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) {
    if (existsSync(file)) renameSync(file, `${file}.damaged`)
  }
}

export function removeSegment(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) rmSync(file, { force: true })
}
