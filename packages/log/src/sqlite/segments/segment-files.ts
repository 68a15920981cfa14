import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Offset } from '../../event-log.ts'

export function segmentPath(directory: string, first: Offset): string {
  return join(directory, `${first}.db`)
}

/** Files that SQLite keeps beside a database that is open or was not closed. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Tells a file from another that came to its place; undefined if there is none. */
export function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

/**
 * Whether a segment was begun but nothing was ever written to it: its file is the one page that `begin` made. One that
 * was cut to that size names tables that are not there, and proves damaged when it is opened.
 */
export function isBlank(path: string): boolean {
  return statSync(path).size === PAGE_BYTES && !hasWal(path)
}

/** Size of a page of a segment's database. */
export const PAGE_BYTES = 16_384

/** Gives the files of a segment the ending `.damaged`, for a person to look at; nothing reads them again. */
export function setAside(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) {
    if (existsSync(file)) renameSync(file, `${file}.damaged`)
  }
}

export function removeSegment(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) rmSync(file, { force: true })
}
