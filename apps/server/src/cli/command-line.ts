import { oneLine } from './paint.ts'

/**
 * A command of ours that a person can copy into a shell.
 *
 * @param settings environment variables that the shell does not have, by name.
 */
export function commandLine(words: readonly string[], settings: Readonly<Record<string, string>> = {}): string {
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${shellWord(value)}`)
  return [...assignments, 'npm run millrace --', ...words.map(shellWord)].join(' ')
}

/** Quotes a text as one shell word. */
function shellWord(text: string): string {
  const plain = oneLine(text, 4_000)
  return /^[\w.:@/+-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`
}
