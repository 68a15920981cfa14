import type { Command } from 'commander'
import { SettingsError } from '../config/environment.ts'
import { loadClientSettings, loadSettings, settingsList } from '../config/settings.ts'
import { unknownSettings } from '../config/unknown-settings.ts'
import { type CommandContext, withExample } from './command.ts'
import { type CommandIo, EXIT } from './command-io.ts'
import { columns, json, oneLine, paintFor } from './paint.ts'

/** `millrace settings` */
export function addSettings(program: Command, { io, exitWith }: CommandContext): void {
  withExample(program.command('settings'), 'settings --json')
    .description('show every setting with its current value')
    .option('--json', 'as JSON, with allowed values')
    .action((options: { json?: boolean }) => exitWith(showSettings(options, io)))
}

/** Shows every setting: its value, and its purpose. @returns the exit code: failed if one is wrong. */
function showSettings(options: { readonly json?: boolean }, { env, stdout, stderr }: CommandIo): number {
  const list = settingsList(env)
  if (options.json) {
    stdout.write(`${json({ settings: list })}\n`)
  } else {
    const paint = paintFor(stdout, env)
    const rows = columns(
      list.map(({ name, value, isGiven, purpose }) => [
        isGiven ? '*' : ' ',
        name,
        oneLine(String(value ?? '-'), 40),
        purpose,
      ]),
      '  ',
    )
    const lines = rows.map((row, i) => (list[i]!.isGiven ? paint('bold', row) : row))
    stdout.write(`${lines.join('\n')}\n\n* set in the environment; all others are defaults. Allowed values: --json\n`)
  }
  warnOfUnknownSettings({ env, stderr })
  const wrong = [loadSettings, loadClientSettings].flatMap((load) => {
    try {
      load(env)
      return []
    } catch (error) {
      if (error instanceof SettingsError) return [error.message]
      throw error
    }
  })
  if (wrong.length === 0) return EXIT.done
  stderr.write(`${paintFor(stderr, env)('red', 'Wrong settings:')}\n${wrong.join('\n')}\n`)
  return EXIT.failed
}

export function warnOfUnknownSettings({ env, stderr }: Pick<CommandIo, 'env' | 'stderr'>): void {
  const paint = paintFor(stderr, env)
  for (const line of unknownSettings(env)) stderr.write(`${paint('yellow', 'Warning:')} ${oneLine(line)}\n`)
}
