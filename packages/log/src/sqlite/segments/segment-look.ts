import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Offset } from '../../event-log.ts'
import { guardDamage } from './damaged-segment.ts'
import { hasWal, inodeOf, isBlank, PAGE_BYTES } from './segment-files.ts'

/** The segments, oldest first, that may hold records from an offset on. */
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
 * Reads segments concurrently with the log thread. It keeps the last connection open, because opening costs more than a
 * read. The connection holds no lock that blocks a checkpoint, but a deleted segment keeps its space until `release`.
 */
export class SegmentLook implements Disposable {
  #held: HeldSegment | undefined

  /**
   * @returns undefined if the segment was deleted, set aside or never written.
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
        // Retry: it may have been deleted, or its WAL checkpointed, between the check and the opening.
        if (!isLastTry) continue
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    }
  }

  /** Closes the connection if its segment was deleted, which frees the space. */
  releaseDeleted(): void {
    if (this.#held !== undefined && this.#held.inode !== inodeOf(this.#held.path)) this.release()
  }

  /** Closes the connection; the next read opens it again. */
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
    // Without a WAL the file is read-only: SQLite needs no locks and no side files.
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
  /** Whether the segment had a WAL when it was opened. */
  readonly isWritten: boolean
  readonly database: DatabaseSync
}

/** A start may reopen the newest segment for writing; a connection opened without a WAL would not see its new records. */
function isStill({ path, inode, isWritten }: HeldSegment, wanted: string): boolean {
  return path === wanted && inode !== undefined && inode === inodeOf(path) && isWritten === hasWal(path)
}

/** The first commit creates the tables; before it is complete in the WAL there is nothing to read. */
function isBegun(path: string, database: DatabaseSync): boolean {
  return (
    statSync(path).size !== PAGE_BYTES || database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined
  )
}
