import type { Clock } from '@millrace/std'
import type { Environment } from '../config/environment.ts'

/** The environment of a command. */
export interface CommandIo {
  readonly env: Environment
  /** Output for people and data. */
  readonly stdout: Output
  /** Output for errors, warnings and progress. */
  readonly stderr: Output
  /** Input for `--message -`, and for the answer to a question. */
  readonly stdin: Input
  readonly clock: Clock
  /** Resolves when a person ends a command that runs continuously. */
  readonly untilStopped: () => Promise<unknown>
}

export interface Input extends AsyncIterable<string | Uint8Array> {
  /** A terminal: a person can answer. */
  readonly isTTY?: boolean | undefined
}

export interface Output {
  write(text: string): unknown
  /** A terminal: a person reads it, and it may show colours. */
  readonly isTTY?: boolean | undefined
}

export const EXIT = { done: 0, failed: 1, changes: 2, wrongUsage: 64 } as const

/** A command that cannot run; the message is for people. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code = 'command'
  readonly exitCode: number
  /** Advice for the user. */
  readonly advice: string | undefined

  constructor(message: string, advice?: string, exitCode: number = EXIT.failed) {
    super(message)
    this.advice = advice
    this.exitCode = exitCode
  }
}

export function usageError(message: string, advice?: string): CommandError {
  return new CommandError(message, advice, EXIT.wrongUsage)
}
