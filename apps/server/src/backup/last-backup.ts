import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** State of the last or the running backup. */
export interface LastBackup {
  readonly file: string
  readonly state: 'running' | 'done' | 'failed'
  /** Reason of the failure, for the operator. */
  readonly reason?: string
}

interface Noted extends LastBackup {
  /** Path of the file. */
  readonly directory: string
}

/** Reason of a backup that was stopped. */
export const INTERRUPTED = 'the server stopped during the backup'

/** Stores the last backup in the data folder: after a crash, the next start finds its temporary files by name. */
export class LastBackupNote {
  readonly #path: string
  #noted: Noted | undefined

  /** Removes the temporary files of a backup that a crash or a stop has ended. */
  constructor(dataFolder: string) {
    this.#path = join(dataFolder, 'last-backup.json')
    this.#noted = readNoted(this.#path)
    if (this.#noted?.state !== 'running') return
    const { directory, file } = this.#noted
    // The end was not stored, but a file has this name only if it is complete.
    const isDone = existsSync(join(directory, file))
    this.#noted = { directory, file, ...(isDone ? { state: 'done' } : { state: 'failed', reason: INTERRUPTED }) }
    try {
      removeLeftovers(directory, file)
      this.note(directory, this.#noted)
    } catch {
      // The disk is full, or the folder is missing: the next start tries again.
    }
  }

  get last(): LastBackup | null {
    if (this.#noted === undefined) return null
    const { file, state, reason } = this.#noted
    return reason === undefined ? { file, state } : { file, state, reason }
  }

  /** @throws Error if it cannot be stored; then it is known only until the next start. */
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

/** An invalid note counts as absent: backups do not depend on it. */
function readNoted(path: string): Noted | undefined {
  try {
    const noted = JSON.parse(readFileSync(path, 'utf8')) as Noted
    const isOurs = /^backup-\d{8}T\d{6}Z\.tar$/.test(noted.file) && typeof noted.directory === 'string'
    return isOurs ? noted : undefined
  } catch {
    return undefined
  }
}
