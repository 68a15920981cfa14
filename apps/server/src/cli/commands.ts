import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addBackup } from './backup-command.ts'
import { addClusterDemo } from './cluster-demo/cluster-demo-command.ts'
import type { AddCommand, CommandContext } from './command.ts'
import { commandLine } from './command-line.ts'
import { addCompletion } from './completion/completion.ts'
import { addConfiguration } from './configuration/configuration-commands.ts'
import { addDoctor } from './doctor/doctor-command.ts'
import { addSend } from './events/send.ts'
import { addTail } from './events/tail.ts'
import { addTrace } from './events/trace.ts'
import { addHelp } from './help.ts'
import { addTest } from './message-tests/test-command.ts'
import { addMessageTests } from './message-tests/test-commands.ts'
import { addMigrate } from './migrate-command.ts'
import { addDeadLetters } from './replays/dead-letters.ts'
import { addReplay } from './replays/replays.ts'
import { addRestore } from './restore-command.ts'
import { addSchema } from './schema/schema-commands.ts'
import { addSettings } from './settings-command.ts'
import { addStart } from './start-command.ts'
import { addTestTransformation } from './test-transformation.ts'
import { addToken } from './token.ts'

/**
 * Every command, in the order of the help. Each imports what only it needs when it runs: a command that loads half of the
 * server takes half a second longer to start.
 */
const COMMANDS: readonly AddCommand[] = [
  addStart,
  addClusterDemo,
  addMigrate,
  addSettings,
  addDoctor,
  addSend,
  addTrace,
  addTail,
  addDeadLetters,
  addReplay,
  addSchema,
  addMessageTests,
  addTest,
  addToken,
  addTestTransformation,
  addConfiguration,
  addBackup,
  addRestore,
  addCompletion,
  addHelp,
]

/** The program `millrace`; parse it once. */
export function newProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.io
  const program = new Command('millrace')
    .description('An open customer data platform: accepts events, stores them, delivers them, and traces every step.')
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showHelpAfterError(`(see ${commandLine(['--help'])})`)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
    .addHelpText('after', EXAMPLES)
  for (const add of COMMANDS) add(program, context)
  pointToHelp(program, [])
  return program
}

/** A wrong use of a command names the help of that command. */
function pointToHelp({ commands }: Command, words: readonly string[]): void {
  for (const command of commands) {
    const all = [...words, command.name()]
    command.showHelpAfterError(`(see ${commandLine(['help', ...all])})`)
    pointToHelp(command, all)
  }
}

const EXAMPLES = `
Examples:
  millrace start
  millrace send track "Seat Reserved" --user u-1 --property hall=B price=18.5
  millrace trace 8ed31aa9-450f-4a72-87aa-05033556fa4d
  millrace dead-letters list --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu

Settings are environment variables: ${commandLine(['settings'])}
Help on a command: ${commandLine(['help'])} <command>`
