import { readFileSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.dirname(path.dirname(import.meta.dirname))

export interface ShellBlock {
  readonly commands: string
  /** The block without a language directly below it: their output. */
  readonly shown: string | undefined
}

/** The blocks of a page that a reader types into a shell. @param page path from the root, such as `docs/events.md`. */
export function shellBlocks(page: string): ShellBlock[] {
  const found = textOf(page).matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```\n([\s\S]*?)^```\n)?/gm)
  return [...found]
    .map(([, commands, shown]) => ({ commands: commands!, shown }))
    .filter(({ commands }) => !commands.startsWith('#!'))
}

/** The blocks of JavaScript of a page that begin with the name of their file. */
export function namedFiles(page: string): { name: string; text: string }[] {
  const found = textOf(page).matchAll(/^```js\n(\/\/ (\S+\.js)\n[\s\S]*?)^```$/gm)
  return [...found].map(([, text, name]) => ({ name: name!, text: text! }))
}

function textOf(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8')
}
