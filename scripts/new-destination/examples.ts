import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { programArguments } from '../../apps/dev-env/src/program-arguments.ts'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import { withExamples } from './guide-examples.ts'
import { GUIDES_FOLDER, TYPES_FOLDER } from './new-type.ts'

const HELP = `Writes the examples of a guide from the documented cases of its type. A sentence below the heading of an example stays.

  npm run destination:examples -- <name> … [--root <folder>]

  <name> …          names of folders in ${TYPES_FOLDER}
  --root <folder>   checkout to write to; default: this one`

const CHECKOUT = path.resolve(import.meta.dirname, '../..')

const { values, positionals, refuse } = programArguments({
  usage: HELP,
  options: { root: { type: 'string' } },
  takesNames: true,
})
if (positionals.length === 0) refuse('Give a name, for example cinema-crm.')
try {
  for (const folder of positionals) await write(path.resolve(values.root ?? CHECKOUT), folder)
} catch (error) {
  console.error(`destination:examples: ${(error as Error).message}`)
  process.exitCode = 1
}

async function write(root: string, folder: string): Promise<void> {
  const casesFile = path.join(root, TYPES_FOLDER, folder, `${folder}.cases.ts`)
  const guideFile = path.join(root, GUIDES_FOLDER, `${folder}.md`)
  for (const file of [casesFile, guideFile]) {
    if (!existsSync(file)) throw new Error(`there is no ${path.relative(root, file)}: check the name`)
  }
  const { cases } = (await import(pathToFileURL(casesFile).href)) as { cases: DestinationCase[] }
  const guide = readFileSync(guideFile, 'utf8')
  const current = withExamples(guide, cases)
  if (current !== guide) writeFileSync(guideFile, current)
  const count = cases.filter(({ documented }) => documented).length
  console.log(`${path.relative(root, guideFile)}: ${count} examples`)
}
