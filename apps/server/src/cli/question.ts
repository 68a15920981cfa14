import { CommandError, type CommandIo, usageError } from './command-io.ts'

/**
 * Asks for confirmation before an action that cannot be undone.
 *
 * @param isSaid true with `--yes`: no question.
 * @throws CommandError unless the answer is yes, or without a terminal.
 */
export async function askFor(question: string, isSaid: boolean | undefined, io: CommandIo): Promise<void> {
  if (isSaid) return
  refuseUnlessAnswerable(isSaid, io)
  io.stderr.write(`${question} [y/N] `)
  if (!/^y(es)?$/i.test((await firstLine(io.stdin)).trim())) throw new CommandError('Cancelled: nothing was changed.')
}

/** Call it before preparing a question that no person would see. @throws CommandError */
export function refuseUnlessAnswerable(isSaid: boolean | undefined, { stdin, stderr }: CommandIo): void {
  if (isSaid || (stdin.isTTY === true && stderr.isTTY === true)) return
  throw usageError('Cannot ask: this is not a terminal.', 'Use --yes, or count first with --dry-run.')
}

async function firstLine(stdin: CommandIo['stdin']): Promise<string> {
  let text = ''
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    if (text.includes('\n') || text.length > 1_000) break
  }
  return text.split('\n', 1)[0]!
}
