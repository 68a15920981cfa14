import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the last backup went, or how the one that runs goes. */
export interface LastBackup {
  readonly file: string
  readonly state: 'running' | 'done' | 'failed'
  /** Why it failed, in words for the operator. */
  readonly reason?: string
}

interface Noted extends LastBackup {
  /** Where the file is, or was to be. */
  readonly directory: string
}

/** Why a backup failed that was not let finish. */
export const INTERRUPTED = 'the server stopped during the backup'

/** Remembers the last backup in the data folder, over restarts: so that what a crash left behind is known by its name. */
export class LastBackupNote {
  readonly #path: string
  #noted: Noted | undefined

  /** Removes what a backup has left behind that a crash or a stop has ended. */
  constructor(dataFolder: string) {
    this.#path = join(dataFolder, 'last-backup.json')
    this.#noted = readNoted(this.#path)
    if (this.#noted?.state !== 'running') return
    const { directory, file } = this.#noted
    // Its end was not noted any more, but it has its name only when it is complete.
    const isDone = existsSync(join(directory, file))
    this.#noted = { directory, file, ...(isDone ? { state: 'done' } : { state: 'failed', reason: INTERRUPTED }) }
    try {
      removeLeftovers(directory, file)
      this.note(directory, this.#noted)
    } catch {
      // A full disk, or a folder that is not there at the moment: the next start tries again.
    }
  }

  get last(): LastBackup | null {
    if (this.#noted === undefined) return null
    const { file, state, reason } = this.#noted
    return reason === undefined ? { file, state } : { file, state, reason }
  }

  /** @throws Error when it cannot be written; then it is remembered until the next start only. */
  note(directory: string, last: LastBackup): void {
    const { file, state, reason } = last
    this.#noted = { directory, file, state, ...(reason === undefined ? {} : { reason }) }
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.#noted), { mode: 0o600, flush: true })
    renameSync(`${this.#path}.new`, this.#path)
  }
}

export function partialFileOf(directory: string, file: string): string {
  return join(directory, `${file}.partial`)
}

export function workFolderOf(directory: string, file: string): string {
  return join(directory, `${file}.work`)
}

export function removeLeftovers(directory: string, file: string): void {
  rmSync(partialFileOf(directory, file), { force: true })
  rmSync(workFolderOf(directory, file), { recursive: true, force: true })
}

/** What is no note of ours is none: a backup does not depend on it. */
function readNoted(path: string): Noted | undefined {
  try {
    const noted = JSON.parse(readFileSync(path, 'utf8')) as Noted
    const isOurs = /^backup-\d{8}T\d{6}Z\.tar$/.test(noted.file) && typeof noted.directory === 'string'
    return isOurs ? noted : undefined
  } catch {
    return undefined
  }
}
