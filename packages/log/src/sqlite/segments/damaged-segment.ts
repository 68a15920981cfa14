import { statSync } from 'node:fs'
import { hasWal } from './segment-files.ts'

/** A segment file is not a database, is truncated, or has a record that fails its checksum. */
export class DamagedSegmentError extends Error {
  override name = 'DamagedSegmentError'
  readonly code = 'SEGMENT_DAMAGED'
}

/** SQLite deletes the WAL of an empty database: do not open it, so that the WAL can still be inspected. */
export function refuseEmptied(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0 && hasWal(path)) {
    throw new DamagedSegmentError(`${path} is empty beside a WAL`)
  }
}

// SQLite's error codes for damaged files; SQLITE_ERROR (1) if one of our tables is missing.
const DAMAGE_CODES = new Set([1, 11, 26])
const SQLITE_IOERR_SHORT_READ = 522

/** Runs `work`. @throws DamagedSegmentError instead of SQLite's errors for damaged files. */
export function guardDamage<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isDamage(error as Error)) throw error
    throw new DamagedSegmentError(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

function isDamage(error: Error & { errcode?: number; code?: string }): boolean {
  if (error.errcode !== undefined)
    return DAMAGE_CODES.has(error.errcode & 0xff) || error.errcode === SQLITE_IOERR_SHORT_READ
  // Values that we never write.
  return error.code === 'ERR_OUT_OF_RANGE' || error instanceof SyntaxError
}
