import { BackupFileError, extractBackup, verifyBackup } from '../../backup/backup-file.ts'
import type { Manifest } from '../../backup/manifest.ts'
import type { CommandIo } from '../command-io.ts'
import { size, time } from '../paint.ts'
import { during } from '../progress.ts'
import { checkDatabases, DATABASE_NAMES } from './database-check.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { roomNeeded, ScratchFolder } from './scratch-folder.ts'

/** Whether a backup is complete, unchanged, supported by this version, and free of damage. */
export async function* checkBackup(file: string, isQuick: boolean, io: CommandIo): AsyncGenerator<Finding> {
  let manifest: Manifest
  try {
    manifest = await during(`reading ${file}`, io, verifyBackup(file))
  } catch (error) {
    if (!(error instanceof BackupFileError)) throw error
    yield fail('backup', error.message)
    return
  }
  const { createdAt, version, members, hasLog } = manifest
  const segments = members.filter(({ name }) => name.startsWith('log/')).length
  const log = hasLog ? `${segments} log ${segments === 1 ? 'segment' : 'segments'}` : 'without the log'
  const bytes = size(sizeOf(members))
  yield ok('backup', `${file} is complete: made ${time(createdAt)} UTC by Millrace ${version}, ${bytes}, ${log}`)
  if (!members.some(({ name }) => name === 'catalog.db')) {
    yield warn('catalog', 'no schema catalog in it: after a restore it is rebuilt from the log')
  }
  yield* checkDatabasesOf(file, manifest, isQuick, io)
}

/** Extracted into a temporary folder: SQLite cannot read inside a tar file. */
async function* checkDatabasesOf(
  file: string,
  manifest: Manifest,
  isQuick: boolean,
  io: CommandIo,
): AsyncGenerator<Finding> {
  if (isQuick) {
    yield ok('databases', 'not read (--quick)')
    return
  }
  const isDatabase = (name: string) => DATABASE_NAMES.includes(name)
  const needed = sizeOf(manifest.members.filter(({ name }) => isDatabase(name)))
  using folder = ScratchFolder.forBytes(needed)
  if (folder === undefined) {
    yield warn('databases', `not read: a copy of them ${roomNeeded(needed)}`)
    return
  }
  await during(`reading ${file}`, io, extractBackup(file, manifest, folder.path, isDatabase))
  yield* checkDatabases(folder.path, { isQuick: false, progress: io.stderr })
}

function sizeOf(members: Manifest['members']): number {
  return members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
