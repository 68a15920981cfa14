import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { GUIDES_FOLDER, type NewType, typeName } from './new-type.ts'

const OVERVIEW = 'docs/README.md'
const CONTRACT = 'docs/contracts/destinations.md'
/** What follows the links to the guides in the overview. */
const AFTER_LINKS = ', [the catalog of '
const NAMES = /(The other built types \([A-Z0-9_, ]+)\)/

/**
 * Adds a type to the documents that list all of them: a link in the overview, and its name in the contract.
 *
 * @returns the changed files. @throws Error naming a document whose list is no longer where it was.
 */
export function list(root: string, type: NewType): string[] {
  const guide = path.posix.relative('docs', `${GUIDES_FOLDER}/${type.folder}.md`)
  change(root, OVERVIEW, (text) => text.replace(AFTER_LINKS, `, [${type.displayName}](${guide})${AFTER_LINKS}`))
  change(root, CONTRACT, (text) => text.replace(NAMES, `$1, ${typeName(type.folder)})`))
  return [OVERVIEW, CONTRACT]
}

function change(root: string, file: string, edit: (text: string) => string): void {
  const text = readFileSync(path.join(root, file), 'utf8')
  const edited = edit(text)
  if (edited === text) throw new Error(`${file} has no list of types where one was expected: add the type by hand`)
  writeFileSync(path.join(root, file), edited)
}
