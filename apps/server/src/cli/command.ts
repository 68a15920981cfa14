import { type Command, InvalidArgumentError } from 'commander'
import { parseBaseUrl } from '../config/setting-texts.ts'
import type { Settings } from '../config/settings.ts'
import type { CommandIo } from './command-io.ts'

/** Values that the commands of the program share. */
export interface CommandContext {
  readonly io: CommandIo
  /** Runs the server until it is stopped. @returns the exit code. */
  readonly start: (settings: Settings, shownSettings: Record<string, string | number | null>) => Promise<number>
  /** Sets the exit code of the program, if it is not 0. */
  readonly exitWith: (code: number) => void
}

/** Adds one command, or one group of commands, to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void

/** Adds an example to the end of the command's help. */
export function withExample(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', ['', 'Example:', ...lines.map((line) => `  millrace ${line}`)].join('\n'))
}

/** A command that calls a server. @see contracts/control-plane.md §10 [D734] */
export function remote(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'address of the server (default: MILLRACE_URL, else that of MILLRACE_HOST and MILLRACE_PORT)',
      (url) => {
        const parsed = parseBaseUrl(url)
        if (parsed === undefined) throw new InvalidArgumentError('It is not an http or https URL.')
        return parsed
      },
    )
    .option('--email <email>', 'e-mail address to sign in with (default: MILLRACE_EMAIL)')
    .option('--token <token>', 'access token (default: MILLRACE_TOKEN, else the one in the data folder)', (token) => {
      if (!/^[!-9;-~]+$/.test(token)) throw new InvalidArgumentError('A token has no spaces and colons.')
      return token
    })
    .option('--json', "print the route's answer")
}
