import { readdirSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Offset } from '../event-log.ts'
import { guardDamage } from './segment.ts'
import { hasWal, isBlank, PAGE_BYTES } from './segment-files.ts'

/** First offsets of the segments of a directory, oldest first, as they are there at the moment. */
export function segmentsIn(directory: string): Offset[] {
  return readdirSync(directory)
    .flatMap((name) => /^(\d+)\.db$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

/**
 * Reads a segment beside the thread that writes, checkpoints and drops it. The connection is open for this one read only,
 * so it never keeps the segment from being checkpointed or dropped for longer than that.
 *
 * @returns undefined when it was dropped or set aside, or nothing was ever written to it.
 * @throws DamagedSegmentError
 */
export function lookInto<T>(path: string, work: (database: DatabaseSync) => T): T | undefined {
  for (let isLastTry = false; ; isLastTry = true) {
    try {
      return isBlank(path) ? undefined : guardDamage(path, () => withConnection(path, work))
    } catch (error) {
      // It was dropped, or its WAL was moved into its file between the look and the opening: then it reads well now.
      if (!isLastTry) continue
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}

function withConnection<T>(path: string, work: (database: DatabaseSync) => T): T | undefined {
  const location = pathToFileURL(path)
  // Without a WAL nobody writes the file any more: SQLite needs no locks and no side files for it.
  if (!hasWal(path)) location.search = '?immutable=1'
  const database = new DatabaseSync(location, { readOnly: true, timeout: 1_000 })
  try {
    return isBegun(path, database) ? work(database) : undefined
  } finally {
    database.close()
  }
}

/** Its tables come with its first commit, of which parts may be in the WAL already: until then there is nothing to read. */
function isBegun(path: string, database: DatabaseSync): boolean {
  return (
    statSync(path).size !== PAGE_BYTES || database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined
  )
}
