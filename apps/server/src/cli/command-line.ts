import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shellQuoted } from '@millrace/wording'
import { oneLine } from './paint.ts'

const MAX_WORD_LENGTH = 4_000
const PROGRAM = programBeside(process.execPath)

/**
 * A command of ours to print: nothing in it controls the terminal.
 *
 * @param settings environment variables that the shell does not have, by name.
 */
export function commandLine(words: readonly string[], settings: Readonly<Record<string, string>> = {}): string {
  const quoted = (text: string) => shellQuoted(oneLine(text, MAX_WORD_LENGTH))
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${quoted(value)}`)
  return [...assignments, PROGRAM, ...words.map(quoted)].join(' ')
}

/** The image has no npm, but `millrace` beside its Node (scripts/image/lay-out.sh). */
export function programBeside(node: string): string {
  return existsSync(join(dirname(node), 'millrace')) ? 'millrace' : 'npm run millrace --'
}
