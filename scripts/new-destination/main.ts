import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { programArguments } from '../../apps/dev-env/src/program-arguments.ts'
import { reservedKind } from '../../packages/destinations/src/config/reserved-names.ts'
import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'
import { withExamples } from './guide-examples.ts'
import { list } from './listings.ts'
import { filesOf, GUIDES_FOLDER, type NewType, TYPES_FOLDER, typeName } from './new-type.ts'

const HELP = `Makes a destination type: its folder, its cases and its guide, and lists it in the documentation. They pass every test,
and are written to be changed.

  npm run new-destination -- <name> [--display <text>] [--category <word>] [--root <folder>]

  <name>             name of the folder in ${TYPES_FOLDER}, for example cinema-crm
  --display <text>   name that people see, and key in an event's integrations; default: from the name
  --category <word>  group in the dashboard, for example analytics, marketing, support; default: other
  --root <folder>    checkout to write to; default: this one

Next: docs/destinations/adding-a-destination.md`

const CHECKOUT = path.resolve(import.meta.dirname, '../..')

const { values, positionals, refuse } = programArguments({
  usage: HELP,
  options: { display: { type: 'string' }, category: { type: 'string' }, root: { type: 'string' } },
  takesNames: true,
})
const { type, root } = wanted()
try {
  await make()
} catch (error) {
  console.error(`new-destination: ${(error as Error).message}`)
  process.exitCode = 1
}

async function make(): Promise<void> {
  const files = filesOf(type)
  const existing = Object.keys(files).filter((file) => existsSync(path.join(root, file)))
  if (existing.length > 0) throw new Error(`${existing.join(' and ')} exists: choose another name, or remove it first`)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  format(root, Object.keys(files))
  await writeExamples(root, type.folder, files[`${GUIDES_FOLDER}/${type.folder}.md`]!)
  console.log(told(type, [...Object.keys(files), ...list(root, type)]))
}

/** What the arguments ask for. */
function wanted(): { type: NewType; root: string } {
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0) return refuse('Give one name, for example cinema-crm.')
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(folder) || folder.length > 40) {
    return refuse(
      `${folder} cannot be a name: use lower-case letters, digits and hyphens, at most 40, for example cinema-crm.`,
    )
  }
  const kind = reservedKind(typeName(folder))
  if (kind !== undefined) return refuse(`${typeName(folder)} is kept for a type of kind ${kind}: choose another name.`)
  const displayName = values.display ?? folder.split('-').map(capitalized).join(' ')
  if (!/^[\p{L}\p{N}][\p{L}\p{N} .&()+-]{0,59}$/u.test(displayName)) {
    return refuse(`${displayName} cannot be a display name: use letters, digits, spaces and . & ( ) + -, at most 60.`)
  }
  const { category = 'other' } = values
  if (!/^[a-z]+(-[a-z]+)*$/.test(category)) {
    return refuse(`${category} cannot be a category: use one word in lower case.`)
  }
  const root = path.resolve(values.root ?? CHECKOUT)
  if (!existsSync(path.join(root, TYPES_FOLDER))) return refuse(`${root} is no checkout: it has no ${TYPES_FOLDER}.`)
  return { type: { folder, displayName, category, now: new Date() }, root }
}

/** Long names make long lines. */
function format(root: string, files: string[]): void {
  const biome = path.join(CHECKOUT, 'node_modules/@biomejs/biome/bin/biome')
  const code = files.filter((file) => file.endsWith('.ts'))
  const { status, stderr } = spawnSync(process.execPath, [biome, 'check', '--write', ...code], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the files are written, but the formatter refused them: ${stderr}`)
}

async function writeExamples(root: string, folder: string, guide: string): Promise<void> {
  const file = path.join(root, TYPES_FOLDER, folder, `${folder}.cases.ts`)
  const { cases } = (await import(pathToFileURL(file).href)) as { cases: DestinationCase[] }
  writeFileSync(path.join(root, GUIDES_FOLDER, `${folder}.md`), withExamples(guide, cases))
}

function told({ folder, displayName }: NewType, files: readonly string[]): string {
  const steps = [
    'read the documentation of the service, and note its pages with the date in the guide',
    'change the cases first, then the definition and the transformation',
    `npm run destination:examples -- ${folder}   writes the examples of the guide from the cases`,
    `node_modules/.bin/biome check --write ${TYPES_FOLDER}/${folder}   formats the code`,
    `npm test -- packages/destinations/src/every -t ${folder}   runs the cases`,
    `npm run destination:live -- ${folder}       sends the documented cases to a sandbox of the service`,
    'add a line to CHANGELOG.md, and run npm run check',
  ]
  return [
    `Made ${displayName} (${typeName(folder)}):`,
    ...files.map((file) => `  ${file}`),
    'The dashboard shows no logos: the type is listed with its name, in its category.',
    'Next (docs/destinations/adding-a-destination.md):',
    ...steps.map((step, at) => `  ${at + 1}. ${step}`),
  ].join('\n')
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
