import type { Command } from 'commander'
import { loadSettings, settingsInForce } from '../config/settings.ts'
import { type CommandContext, withExample } from './command.ts'
import { warnOfUnknownSettings } from './settings-command.ts'

/** `millrace start` */
export function addStart(program: Command, { io, start, exitWith }: CommandContext): void {
  const command = program
    .command('start')
    .description('run the server until it is stopped')
    .option('--roles <list>', 'parts that this process of a cluster runs (default: MILLRACE_ROLES)')
  withExample(command, 'start').action(async ({ roles }: { readonly roles?: string }) => {
    const env = roles === undefined ? io.env : { ...io.env, MILLRACE_ROLES: roles }
    const settings = loadSettings(env)
    warnOfUnknownSettings(io)
    exitWith(await start(settings, settingsInForce(env)))
  })
}
