import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Offset } from '../../event-log.ts'

export function segmentPath(directory: string, first: Offset): string {
  return join(directory, `${first}.db`)
}

/** First offsets of the segments that a directory has now, oldest first. */
export function segmentsIn(directory: string, ending: '.db' | '.db.damaged' = '.db'): Offset[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((first) => /^\d+$/.test(first))
    .map(Number)
    .sort((a, b) => a - b)
}

/** Files beside a database that is open or was not closed. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Identifies a file even if another replaces it; undefined if there is none. */
export function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

/**
 * Whether a segment was created but never written: its file is the single page of `begin`. A segment truncated to that
 * size refers to missing tables and is detected as damaged when it is opened.
 */
export function isBlank(path: string): boolean {
  return statSync(path).size === PAGE_BYTES && !hasWal(path)
}

/** Size of a page of a segment's database. */
export const PAGE_BYTES = 16_384

/** Renames the files of a segment to `*.damaged`, for manual inspection; the server never reads them again. */
export function setAside(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) {
    if (existsSync(file)) renameSync(file, `${file}.damaged`)
  }
}

/** Copies the files of a segment that stays in use to `*.damaged`, for manual inspection. @param as path after which they are named. */
export function copyDamaged(path: string, as: string): void {
  for (const ending of ['', '-wal']) {
    if (existsSync(path + ending)) copyFileSync(path + ending, `${as}${ending}.damaged`)
  }
}

export function removeSegment(path: string): void {
  for (const file of [path, ...SIDE_FILES.map((ending) => path + ending)]) rmSync(file, { force: true })
}
