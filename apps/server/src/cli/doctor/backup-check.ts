import { BackupFileError, verifyBackup } from '../../backup/backup-file.ts'
import type { CommandIo } from '../command-io.ts'
import { size, time } from '../paint.ts'
import { during } from '../progress.ts'
import { type Finding, fail, ok } from './finding.ts'

/** Whether the file of a backup is whole and unchanged, and one that this version can restore. */
export async function checkBackup(file: string, io: CommandIo): Promise<Finding> {
  try {
    const { createdAt, version, members, hasLog } = await during(`reading ${file}`, io, verifyBackup(file))
    const bytes = members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const segments = members.filter(({ name }) => name.startsWith('log/')).length
    const log = hasLog ? `${segments} log ${segments === 1 ? 'segment' : 'segments'}` : 'without the log'
    return ok('backup', `${file} is whole: made ${time(createdAt)} UTC by Millrace ${version}, ${size(bytes)}, ${log}`)
  } catch (error) {
    if (!(error instanceof BackupFileError)) throw error
    return fail('backup', error.message)
  }
}
