/** A command of ours that a person can copy into a shell, in the folder of Millrace. */
export function commandLine(...words: readonly string[]): string {
  return ['npm run millrace --', ...words.map(shellQuoted)].join(' ')
}

/** Quotes any text as one word for a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
