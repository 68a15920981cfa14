import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from './make-folder.ts'
import { type CorrectedModes, makePrivate } from './private-modes.ts'

/**
 * Version of the folder's layout; each database also counts its own schema.
 *
 *   3  sources lie in several partitions of the log
 *   2  records of the log have flags and a policy set (protocol/record.ts, format 2), and sources a partition (control.db)
 *   1  the first
 */
export const DATA_FORMAT = 3

/** A problem with the data folder; the message is for the operator. */
export class DataFolderError extends Error {
  override name = 'DataFolderError'
  readonly code = 'DATA_FOLDER'
}

/**
 * The folder of all data: `format`, `lock`, `secret.key`, `control.db`, `delivery.db`, `verified-types`, `log/`. One process at a time
 * may have it open. The operating system holds the lock and releases it when the process ends, even after a crash.
 */
export class DataFolder implements Disposable {
  readonly path: string
  /** Files that other users of the machine could read. */
  readonly correctedModes: CorrectedModes
  readonly #lock: DatabaseSync

  /**
   * @throws DataFolderError if it cannot be used: not writable, of a newer version, incomplete, in use. Then nothing is
   * changed.
   */
  static open(path: string): DataFolder {
    refuseNewerFormat(path)
    refuseIncomplete(path)
    makeWritable(path)
    const lock = takeLock(path)
    if (!existsSync(join(path, 'format'))) writeFormat(path)
    return new DataFolder(path, lock, makePrivate(path))
  }

  private constructor(path: string, lock: DatabaseSync, correctedModes: CorrectedModes) {
    this.path = path
    this.correctedModes = correctedModes
    this.#lock = lock
  }

  /**
   * Records that the folder now has the layout of this version: its databases are migrated, and nothing was appended to
   * the log yet. Until then an earlier release can still use it.
   */
  noteFormat(): void {
    if (readFormat(this.path) !== DATA_FORMAT) writeFormat(this.path)
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /**
   * The key that encrypts secrets in the control plane's database: the given one, else the one in `secret.key`. That
   * file is created only together with the database.
   */
  secretKey(given: Uint8Array | undefined): Uint8Array {
    if (given !== undefined) return given
    const file = this.file('secret.key')
    if (existsSync(file)) {
      const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
      if (key.length === 32) return key
      throw new DataFolderError(`${file} is not a key: it must hold 32 bytes in base64`)
    }
    const missing = missingSecretKey(this.path)
    if (missing !== undefined) throw new DataFolderError(missing)
    const key = randomBytes(32)
    writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
    return key
  }

  [Symbol.dispose](): void {
    this.#lock.close()
  }
}

function refuseNewerFormat(path: string): void {
  if (!existsSync(join(path, 'format'))) return
  const format = readFormat(path)
  if (format > DATA_FORMAT) {
    throw new DataFolderError(
      `${path} was written by a newer version of Millrace (format ${format}, this version supports ${DATA_FORMAT}); nothing was changed`,
    )
  }
}

/**
 * A database that a first start has made, and that is gone: a server would make an empty one, discard all waiting events
 * for want of their destinations, or never deliver what the log holds.
 */
export function missingDatabase(path: string): string | undefined {
  const [control, delivery, log] = ['control.db', 'delivery.db', 'log'].map((name) => existsSync(join(path, name)))
  // A first start makes them in this order.
  if (!control && (delivery || log)) return join(path, 'control.db')
  return !delivery && log ? join(path, 'delivery.db') : undefined
}

/** Undefined: `secret.key` is there, or the first start makes it with the database. @returns what is wrong, and what to do. */
export function missingSecretKey(path: string): string | undefined {
  const file = join(path, 'secret.key')
  if (existsSync(file) || !existsSync(join(path, 'control.db'))) return undefined
  return `${file} is missing, and saved secrets cannot be read without it: restore the file, or set MILLRACE_SECRET_KEY`
}

function refuseIncomplete(path: string): void {
  const missing = missingDatabase(path)
  if (missing === undefined) return
  throw new DataFolderError(
    `${missing} is missing, and events would be lost without it: restore the file or a backup; for a new server, set MILLRACE_DATA_DIR to an empty folder`,
  )
}

function readFormat(path: string): number {
  return Number(readFileSync(join(path, 'format'), 'utf8').trim())
}

/** A crash leaves the old number or the new one, never an empty file. */
function writeFormat(path: string): void {
  const file = join(path, 'format')
  writeFileSync(`${file}.new`, `${DATA_FORMAT}\n`, { flush: true, mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function makeWritable(path: string): void {
  try {
    makeFolder(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    writeFileSync(join(path, 'lock'), '', { flag: 'a', mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new DataFolderError(
      `data folder ${path} cannot be written (${code}): give this user write access, or set MILLRACE_DATA_DIR`,
    )
  }
}

function takeLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, 'lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (by TEXT); COMMIT')
    return lock
  } catch (error) {
    lock.close()
    if (!/locked/.test((error as Error).message)) throw error
    throw new DataFolderError(`data folder ${path} is in use by another Millrace: stop it, or set MILLRACE_DATA_DIR`)
  }
}
