import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import { type CommandContext, withExample } from './command.ts'
import { warnOfUnknownSettings } from './settings-command.ts'

/** `millrace start` */
export function addStart(program: Command, { io, start, exitWith }: CommandContext): void {
  const command = program.command('start').description('run the server until it is stopped')
  withExample(command, 'start').action(async () => {
    const settings = loadSettings(io.env)
    warnOfUnknownSettings(io)
    exitWith(await start(settings))
  })
}
