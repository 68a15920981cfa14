import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@millrace/std'
import { noteOf, readAll } from '../conformance.ts'
import { STREAMS } from '../event-log.ts'
import { SqliteEventLog, type SqliteEventLogOptions } from './sqlite-event-log.ts'

/** Temporary folders for logs that tests break; deleted at the end. */
export class LogFolders implements Disposable {
  readonly root: string
  #count = 0

  constructor(root = mkdtempSync(join(tmpdir(), 'millrace-log-'))) {
    this.root = root
  }

  /** Path of a new folder, which does not exist yet. */
  create(): string {
    return join(this.root, `log-${++this.#count}`)
  }

  /** Copies a folder, also one in use, as a crash at this moment would leave it. */
  copy(directory: string): string {
    const copy = this.create()
    mkdirSync(copy)
    // The index of a WAL does not survive. WALs come first: one that is moved into its database file meanwhile is then
    // there twice and not gone.
    const names = readdirSync(directory).filter((name) => !name.endsWith('-shm'))
    const isWal = (name: string) => name.endsWith('-wal')
    for (const name of [...names.filter(isWal), ...names.filter((name) => !isWal(name))]) {
      copyIfThere(join(directory, name), join(copy, name))
    }
    return copy
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** Copies a file. One that goes before it is read was moved into another file, or expired: there is nothing to copy. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

export function openLog(directory: string, options: Partial<SqliteEventLogOptions> = {}): Promise<SqliteEventLog> {
  return SqliteEventLog.open({ directory, clock: systemClock, cacheBytes: 0, ...options })
}

/** Notes of all records, stream by stream. */
export async function notesIn(log: SqliteEventLog): Promise<(string | undefined)[]> {
  const notes = []
  for (const stream of STREAMS) notes.push(...(await readAll(log, 0, stream, 0, 1_000_000)).map(noteOf))
  return notes
}

/** Names of the segment files in a folder, oldest first. */
export function segmentFiles(directory: string, ending = '.db'): string[] {
  const names = readdirSync(directory).filter((name) => /^\d+\./.test(name) && name.endsWith(ending))
  return names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
}
