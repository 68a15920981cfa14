import { join } from 'node:path'
import { counted } from '@millrace/wording'
import type { Command } from 'commander'
import type { Restored } from '../backup/restore.ts'
import { loadSettings } from '../config/settings.ts'
import { type CommandContext, withExample } from './command.ts'
import { CommandError, type CommandIo } from './command-io.ts'
import { json, oneLine, paintFor, time } from './paint.ts'
import { during } from './progress.ts'

interface RestoreCommandOptions {
  readonly json?: boolean
}

/** `millrace restore` */
export function addRestore(program: Command, { io }: CommandContext): void {
  withExample(program.command('restore <file>'), 'restore backup-20260304T091530Z.tar')
    .description('create a data folder from a backup, on this machine; MILLRACE_DATA_DIR must be empty')
    .option('--json', 'as JSON')
    .action((file: string, options: RestoreCommandOptions) => restore(file, options, io))
}

async function restore(file: string, options: RestoreCommandOptions, io: CommandIo): Promise<void> {
  const { dataDir } = loadSettings(io.env)
  const { BackupFileError } = await import('../backup/backup-file.ts')
  const { RestoreError, restoreBackup } = await import('../backup/restore.ts')
  let restored: Restored
  try {
    const work = restoreBackup({ file, dataFolder: dataDir, clock: io.clock })
    restored = await during(`restoring ${oneLine(file)}`, io, work)
  } catch (error) {
    if (!(error instanceof BackupFileError || error instanceof RestoreError)) throw error
    throw new CommandError(`Not restored: ${oneLine(error.message, 2_000)}.`, 'Nothing was changed.')
  }
  if (options.json) io.stdout.write(`${json(answerOf(restored))}\n`)
  else io.stdout.write(`${linesOf(restored, io).join('\n')}\n`)
}

function answerOf({ dataFolder, manifest, redeliveries }: Restored) {
  const { createdAt, version, hasLog } = manifest
  return { restored: { dataFolder, createdAt, version, hasLog, redeliveries } }
}

function linesOf({ dataFolder, manifest, redeliveries }: Restored, { stdout, env }: CommandIo): string[] {
  const paint = paintFor(stdout, env)
  const made = `${time(manifest.createdAt)} UTC`
  return [
    `${paint('green', 'restored')}  ${oneLine(dataFolder, 1_000)}  from a backup of ${made}`,
    ...(manifest.hasLog ? inLog(redeliveries, made) : [NO_LOG]),
    `Users, roles and access tokens are those of ${made}: remove again what you removed since.`,
    '',
    `A backup does not contain the secret key: copy it to ${oneLine(join(dataFolder, 'secret.key'), 1_000)}, or set`,
    "MILLRACE_SECRET_KEY, before you start. It does not contain the command line's token either: set MILLRACE_TOKEN to yours.",
  ]
}

const NO_LOG =
  'This backup has no log: events that waited for delivery are lost. Dead letters are kept, with their events.'

function inLog(redeliveries: Restored['redeliveries'], made: string): string[] {
  const waiting = redeliveries.filter(({ events }) => events > 0)
  return [
    waiting.length === 0 ? 'No events wait for delivery.' : 'The start will deliver:',
    ...waiting.map(
      ({ destinationId, destinationName, events }) =>
        `  up to ${counted(events, 'event')} to ${oneLine(destinationName)} (${destinationId})`,
    ),
    `Events delivered after ${made} are delivered again, with the same messageId.`,
  ]
}
