import type { Info, StartedBackup } from '@millrace/api-types'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from './command.ts'
import { CommandError, type CommandIo } from './command-io.ts'
import { json, oneLine, paintFor } from './paint.ts'
import { during } from './progress.ts'
import { ServerApi, type ServerOptions } from './server-api.ts'

interface BackupOptions extends ServerOptions {
  /** False for --no-log. */
  readonly log: boolean
  readonly json?: boolean
}

const POLL_MS = 250

/** `millrace backup` */
export function addBackup(program: Command, { io }: CommandContext): void {
  withExample(remote(program.command('backup')), 'backup')
    .description('create a backup on the server and wait for it')
    .option('--no-log', 'omit the events; a restore then loses the events that wait for delivery')
    .action((options: BackupOptions) => backup(options, io))
}

async function backup(options: BackupOptions, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const { backup: begun } = await api.send<{ backup: StartedBackup }>('POST', '/v2/admin/backup', { log: options.log })
  const { ended, directory } = await during(`backup ${oneLine(begun.file)}`, io, untilEnded(api, begun.file, io))
  if (options.json) io.stdout.write(`${json({ backup: ended })}\n`)
  if (ended.state === 'failed') {
    throw new CommandError(`The backup ${oneLine(ended.file)} failed: ${oneLine(ended.reason ?? 'unknown reason')}`)
  }
  if (options.json) return
  const where = directory === null ? "backups in the server's data folder" : oneLine(String(directory))
  const lines = [
    `${paintFor(io.stdout, io.env)('green', 'done')}  ${oneLine(ended.file)}  (in ${where})`,
    'The secret key is not in it. Keep secret.key, or the value of MILLRACE_SECRET_KEY, in another safe place.',
  ]
  io.stdout.write(`${lines.join('\n')}\n`)
}

/** The API has no notification for the end of a backup, so this polls. */
async function untilEnded(api: ServerApi, file: string, { clock }: CommandIo) {
  for (;;) {
    const { info } = await api.get<{ info: Info }>('/v2/admin/info')
    const { lastBackup: last, settings } = info
    if (last?.file !== file) throw new CommandError(`${api.url} no longer knows the backup ${oneLine(file)}.`)
    if (last.state !== 'running') return { ended: last, directory: settings.MILLRACE_BACKUP_DIR ?? null }
    await new Promise<void>((resolve) => clock.setTimer(resolve, POLL_MS))
  }
}
