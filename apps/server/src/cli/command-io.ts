import type { Clock } from '@millrace/std'
import type { Environment } from '../config/environment.ts'

/** What a command may touch of the world around it. */
export interface CommandIo {
  readonly env: Environment
  /** For people and data. */
  readonly stdout: Output
  /** For errors, warnings and progress. */
  readonly stderr: Output
  /** Read for `--message -`, and for the answer to a question. */
  readonly stdin: Input
  readonly clock: Clock
  /** Asked by a command that goes on until a person has seen enough. */
  readonly untilStopped: () => Promise<unknown>
}

export interface Input extends AsyncIterable<string | Uint8Array> {
  /** Of a terminal: a person may answer. */
  readonly isTTY?: boolean | undefined
}

export interface Output {
  write(text: string): unknown
  /** Of a terminal: a person looks at it, and it may show colours. */
  readonly isTTY?: boolean | undefined
}

export const EXIT = { done: 0, failed: 1, changes: 2, wrongUsage: 64 } as const

/** A command that cannot be carried out, in words for whoever gave it. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code = 'command'
  readonly exitCode: number
  /** What to do about it. */
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
