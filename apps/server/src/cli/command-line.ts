import { commandLine as commandOf, shellQuoted } from '@millrace/wording'
import { oneLine } from './paint.ts'

const MAX_WORD_LENGTH = 4_000

/**
 * A command of ours to print: nothing in it controls the terminal.
 *
 * @param settings environment variables that the shell does not have, by name.
 */
export function commandLine(words: readonly string[], settings: Readonly<Record<string, string>> = {}): string {
  const plain = (text: string) => oneLine(text, MAX_WORD_LENGTH)
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${shellQuoted(plain(value))}`)
  return [...assignments, commandOf(...words.map(plain))].join(' ')
}
