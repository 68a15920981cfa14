import { type Clock, systemClock } from '@millrace/std'
import { Command, CommanderError } from 'commander'
import { type Environment, loadSettings, type Settings, SettingsError } from '../config/settings.ts'
import { VERSION } from '../version.ts'
import { addBackup } from './backup-command.ts'
import { remote } from './command.ts'
import { CommandError, type CommandIo, EXIT, type Output } from './command-io.ts'
import { type DeadLetterFilters, listDeadLetters, showDeadLetter } from './dead-letters.ts'
import { doctor } from './doctor/doctor.ts'
import { paintFor } from './paint.ts'
import { addRestore } from './restore-command.ts'
import { type SendOptions, send } from './send.ts'
import type { ServerOptions } from './server-api.ts'
import { showSettings, warnOfUnknownSettings } from './settings-command.ts'
import { type TraceOptions, trace } from './trace.ts'

export interface CommandLine {
  /** Without the program's own name. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: AsyncIterable<string | Uint8Array>
  readonly clock?: Clock
  /** Runs the server until it is told to stop. @returns the exit code. */
  readonly start: (settings: Settings) => Promise<number>
}

/**
 * Carries out one command of `millrace`.
 *
 * @returns the exit code: 0 done, 1 failed, 64 wrong usage.
 * @see contracts/control-plane.md §10
 */
export async function runCommand(line: CommandLine): Promise<number> {
  const { argv, env, stdout, stderr, stdin = noInput(), clock = systemClock } = line
  const io: CommandIo = { env, stdout, stderr, stdin, clock }
  let exitCode: number = EXIT.done
  const program = commands(io, line.start, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error as Error, io)
  }
}

function commands(io: CommandIo, start: CommandLine['start'], exitWith: (code: number) => void): Command {
  const program = new Command('millrace')
    .description('An open customer data platform: takes events, keeps them, delivers them, and shows every step.')
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError('(millrace --help shows what there is)')
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .exitOverride()
    .addHelpText('after', EXAMPLES)

  program
    .command('start')
    .description('run the server until it is stopped')
    .action(async () => {
      const settings = loadSettings(io.env)
      warnOfUnknownSettings(io)
      exitWith(await start(settings))
    })
  program
    .command('settings')
    .description('show every setting: its value in force, and what it is for')
    .option('--json', 'as JSON, with what each may be')
    .action((options: { json?: boolean }) => exitWith(showSettings(options, io)))
  program
    .command('doctor [backup]')
    .description('look for trouble on this machine: settings, data folder, log, disk, port; or in the file of a backup')
    .option('--quick', 'leave out reading every record of the log')
    .option('--json', 'as JSON')
    .action(async (backup: string | undefined, options: { quick?: boolean; json?: boolean }) =>
      exitWith(await doctor({ ...options, backup }, io)),
    )
  addBackup(program, { io, start, exitWith })
  addRestore(program, { io, start, exitWith })

  remote(program.command('send [type] [name]'))
    .description('send an event, or the events of a message')
    .option('--user <id>', 'userId')
    .option('--anonymous <id>', 'anonymousId; made up if there is no --user either')
    .option('--property <name=value...>', 'property (identify, group: trait); a value is read as JSON if it is that')
    .option('--message <file>', 'JSON of an event, a list or a batch; - is standard input')
    .option('--write-key <key>', 'write key of the source')
    .option('--source <source>', 'id, key or name of the source (default: the one named Quickstart)')
    .action((type: string | undefined, name: string | undefined, options: SendOptions) => send(type, name, options, io))
  remote(program.command('trace <messageId>'))
    .description('show what became of an event at every destination')
    .option('--source <id>', 'only of this source')
    .action((messageId: string, options: TraceOptions) => trace(messageId, options, io))

  const deadLetters = program.command('dead-letters').description('events that were given up')
  remote(deadLetters.command('list'))
    .description('list them, newest first')
    .option('--destination <id>', 'only of this destination')
    .option('--source <id>', 'only of this source')
    .option('--stage <stage>', 'user_transformation, dest_transformation or delivery')
    .option('--reason <reason>', 'only those given up for this reason')
    .option('--state <state>', 'open (default), replaying, resolved or discarded')
    .option('--user <id>', 'only of this userId')
    .option('--message <id>', 'only of this messageId')
    .option('--from <time>', 'given up at or after this time')
    .option('--to <time>', 'given up before this time')
    .option('--limit <n>', 'how many, 1 to 500 (default 100)')
    .option('--cursor <cursor>', 'where the list before left off')
    .action((options: DeadLetterFilters & ServerOptions) => listDeadLetters(options, io))
  remote(deadLetters.command('show <id>'))
    .description('show one with its event, last request and attempts')
    .action((id: string, options: ServerOptions) => showDeadLetter(id, options, io))
  return program
}

const EXAMPLES = `
Examples:
  millrace start
  millrace send track "Seat Reserved" --user u-1 --property hall=B price=18.5
  millrace trace 8ed31aa9-450f-4a72-87aa-05033556fa4d
  millrace dead-letters list --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu

Settings are environment variables: millrace settings`

function report(error: Error, { env, stderr }: CommandIo): number {
  // Its text has been written already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage
  const paint = paintFor(stderr, env)
  if (error instanceof CommandError) {
    stderr.write(`${paint('red', error.message)}\n`)
    if (error.advice !== undefined) stderr.write(`${error.advice}\n`)
    return error.exitCode
  }
  if (error instanceof SettingsError) {
    stderr.write(`${paint('red', 'Wrong settings:')}\n${error.message}\nAll of them: npm run millrace -- settings\n`)
    return EXIT.failed
  }
  // Not foreseen: whoever mends it needs to know where.
  stderr.write(`${error.stack ?? error.message}\n`)
  return EXIT.failed
}

async function* noInput(): AsyncGenerator<string> {}
