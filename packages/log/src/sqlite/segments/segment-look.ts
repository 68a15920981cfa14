import { readdirSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Offset } from '../../event-log.ts'
import { guardDamage } from './segment.ts'
import { hasWal, inodeOf, isBlank, PAGE_BYTES } from './segment-files.ts'

/** First offsets of the segments of a directory, oldest first, as they are there at the moment. */
export function segmentsIn(directory: string): Offset[] {
  return readdirSync(directory)
    .flatMap((name) => /^(\d+)\.db$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

/** Of segments, oldest first, those that may hold something from an offset on. */
export function segmentsFrom(firsts: readonly Offset[], from: Offset): readonly Offset[] {
  return firsts.slice(
    Math.max(
      0,
      firsts.findLastIndex((first) => first <= from),
    ),
  )
}

/** Reads a segment once. @see SegmentLook.into */
export function lookInto<T>(path: string, work: (database: DatabaseSync) => T): T | undefined {
  using look = new SegmentLook()
  return look.into(path, work)
}

/**
 * Reads segments beside the thread that writes, checkpoints and drops them. The connection to the last one stays open, as
 * opening costs more than a read; it holds no lock that a checkpoint waits for, but a dropped segment keeps its space
 * until `release`.
 */
export class SegmentLook implements Disposable {
  #held: HeldSegment | undefined

  /**
   * @returns undefined when the segment was dropped or set aside, or nothing was ever written to it.
   * @throws DamagedSegmentError
   */
  into<T>(path: string, work: (database: DatabaseSync) => T): T | undefined {
    for (let isLastTry = false; ; isLastTry = true) {
      try {
        return guardDamage(path, () => {
          const database = this.#open(path)
          return database && work(database)
        })
      } catch (error) {
        this.release()
        // It was dropped, or its WAL was moved into its file between the look and the opening: then it reads well now.
        if (!isLastTry) continue
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    }
  }

  /** Closes what is open. It is opened again when it is read again. */
  release(): void {
    const held = this.#held
    this.#held = undefined
    held?.database.close()
  }

  [Symbol.dispose](): void {
    this.release()
  }

  #open(path: string): DatabaseSync | undefined {
    if (this.#held !== undefined && isStill(this.#held, path)) return this.#held.database
    this.release()
    if (isBlank(path)) return undefined
    const [inode, isWritten] = [inodeOf(path), hasWal(path)]
    const location = pathToFileURL(path)
    // Without a WAL nobody writes the file any more: SQLite needs no locks and no side files for it.
    if (!isWritten) location.search = '?immutable=1'
    const database = new DatabaseSync(location, { readOnly: true, timeout: 1_000 })
    this.#held = { path, inode, isWritten, database }
    if (isBegun(path, database)) return database
    this.release()
    return undefined
  }
}

interface HeldSegment {
  readonly path: string
  readonly inode: bigint | undefined
  /** Whether it had a WAL when it was opened. */
  readonly isWritten: boolean
  readonly database: DatabaseSync
}

/** A start may write the newest segment again after it was closed: what was opened without a WAL would never see that. */
function isStill({ path, inode, isWritten }: HeldSegment, wanted: string): boolean {
  return path === wanted && inode !== undefined && inode === inodeOf(path) && isWritten === hasWal(path)
}

/** Its tables come with its first commit, of which parts may be in the WAL already: until then there is nothing to read. */
function isBegun(path: string, database: DatabaseSync): boolean {
  return (
    statSync(path).size !== PAGE_BYTES || database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined
  )
}
