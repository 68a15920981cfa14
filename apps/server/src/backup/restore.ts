import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { destinationNames, endSessions } from '@millrace/control-plane'
import type { Clock } from '@millrace/std'
import { DATA_FORMAT } from '../data-folder/data-folder.ts'
import { makeFolder } from '../data-folder/make-folder.ts'
import { BackupFileError, extractBackup, verifyBackup } from './backup-file.ts'
import type { Manifest } from './manifest.ts'
import { type Redelivery, redeliveries } from './redelivery.ts'
import { syncFolder } from './sync-folder.ts'

export interface RestoreOptions {
  readonly file: string
  /** Empty, or missing. */
  readonly dataFolder: string
  readonly clock: Clock
}

export interface Restored {
  readonly dataFolder: string
  readonly manifest: Manifest
  /** Events that will be delivered when the server starts; empty without a log. */
  readonly redeliveries: readonly Redelivery[]
}

/** The target cannot take a restored data folder; the message is for people. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError'
  readonly code = 'restore'
}

/**
 * Creates a data folder from a backup: verifies the whole file, writes its content beside the target under a temporary
 * name, syncs it, and renames it. A failure leaves the target unchanged.
 *
 * @throws BackupFileError, RestoreError
 * @see contracts/control-plane.md §10 [D725]
 */
export async function restoreBackup({ file, dataFolder, clock }: RestoreOptions): Promise<Restored> {
  const target = resolve(dataFolder)
  refuseUnlessEmpty(target)
  const manifest = await verifyBackup(file)
  const parent = dirname(target)
  const folder = makeFolderBeside(target)
  try {
    refuseIfTooLarge(manifest, parent)
    mkdirSync(join(folder, 'log'), { mode: 0o700 })
    await extractBackup(file, manifest, folder)
    const names = readNames(folder, file)
    endSessions(join(folder, 'control.db'))
    const found = manifest.hasLog ? await redeliveries(folder, names, clock) : []
    writeFileSync(join(folder, 'format'), `${DATA_FORMAT}\n`, { mode: 0o600, flush: true })
    for (const each of [join(folder, 'log'), folder]) syncFolder(each)
    moveInto(folder, target)
    syncFolder(parent)
    return { dataFolder: target, manifest, redeliveries: found }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    if ((error as NodeJS.ErrnoException).code === 'NEWER_SCHEMA') throw newer(file, error)
    throw error
  }
}

function readNames(folder: string, file: string): ReadonlyMap<string, string> {
  try {
    return destinationNames(join(folder, 'control.db'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'newer_database') throw newer(file, error)
    throw error
  }
}

function newer(file: string, cause: unknown): BackupFileError {
  return new BackupFileError(`${file} was made by a newer version of Millrace: restore it with that version`, { cause })
}

function refuseUnlessEmpty(target: string): void {
  let names: string[]
  try {
    names = readdirSync(target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new RestoreError(code === 'ENOTDIR' ? `${target} is not a folder` : `${target} cannot be read (${code})`)
  }
  if (names.length > 0) throw new RestoreError(`${target} is not empty: a backup is restored into an empty folder`)
}

function makeFolderBeside(target: string): string {
  try {
    makeFolder(dirname(target))
    return mkdtempSync(`${target}.restoring-`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new RestoreError(`the folder of ${target} is not writable (${code})`, { cause: error })
  }
}

function refuseIfTooLarge({ members }: Manifest, parent: string): void {
  const needed = members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < needed) {
    throw new RestoreError(`not enough space in ${parent}: ${needed} bytes needed, ${bavail * bsize} free`)
  }
}

/** A single step: the target never holds a part of a data folder. */
function moveInto(folder: string, target: string): void {
  try {
    // On other systems the rename itself replaces an empty folder.
    if (process.platform === 'win32') rmdirSync(target)
    renameSync(folder, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isMount = code === 'EBUSY' || code === 'EXDEV'
    const why = isMount ? 'it is a mount point; restore into a new folder inside it' : code
    throw new RestoreError(`${target} cannot be replaced: ${why}`, { cause: error })
  }
}
