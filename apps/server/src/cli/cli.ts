import { type Clock, systemClock } from '@millrace/std'
import { CommanderError } from 'commander'
import { type Environment, SettingsError } from '../config/environment.ts'
import type { Settings } from '../config/settings.ts'
import { CommandError, type CommandIo, EXIT, type Input, type Output } from './command-io.ts'
import { commandLine } from './command-line.ts'
import { newProgram } from './commands.ts'
import { paintFor } from './paint.ts'

export interface CommandLine {
  /** Arguments without the program's name. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: Input
  readonly clock?: Clock
  /** Resolves when a command that runs continuously should end; without it, none ends. */
  readonly untilStopped?: () => Promise<unknown>
  /** Runs the server until it is stopped. @returns the exit code. */
  readonly start: (settings: Settings, shownSettings: Record<string, string | number | null>) => Promise<number>
}

/**
 * Runs one command of `millrace`.
 *
 * @returns the exit code: 0 done, 1 failed, 64 wrong usage.
 * @see contracts/control-plane.md §10
 */
export async function runCommand(line: CommandLine): Promise<number> {
  const { argv, env, stdout, stderr, stdin = noInput(), clock = systemClock, untilStopped = never } = line
  const io: CommandIo = { env, stdout, stderr, stdin, clock, untilStopped }
  let exitCode: number = EXIT.done
  const exitWith = (code: number) => {
    exitCode = code
  }
  const program = newProgram({ io, start: line.start, exitWith })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error as Error, io)
  }
}

function report(error: Error, { env, stderr }: CommandIo): number {
  // The text is already written.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage
  const paint = paintFor(stderr, env)
  if (error instanceof CommandError) {
    stderr.write(`${paint('red', error.message)}\n`)
    if (error.advice !== undefined) stderr.write(`${error.advice}\n`)
    return error.exitCode
  }
  if (error instanceof SettingsError) {
    stderr.write(`${paint('red', 'Wrong settings:')}\n${error.message}\nAll of them: ${commandLine(['settings'])}\n`)
    return EXIT.failed
  }
  // An unexpected error: developers need its place.
  stderr.write(`${error.stack ?? error.message}\n`)
  return EXIT.failed
}

function never(): Promise<never> {
  return new Promise(() => {})
}

async function* noInput(): AsyncGenerator<string> {}
