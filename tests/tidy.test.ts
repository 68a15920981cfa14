import path from 'node:path'
import { expect, test } from 'vitest'
import { readTree } from './tree.ts'

/*
 * Promises of the tree as a whole. Each test lists what breaks one, in words that say what to do.
 */

/** Who stands above whom; a workspace imports only from lower layers (docs/decisions/0002-layers.md). */
const LAYERS: Record<string, number> = {
  protocol: 0,
  std: 0,
  openapi: 0,
  wording: 0,
  'api-types': 0,
  postgres: 0,
  log: 1,
  destinations: 1,
  'destination-catalog': 1,
  delivery: 1,
  transformations: 1,
  'schema-catalog': 1,
  'control-plane': 1,
  dashboard: 1,
  gateway: 2,
  pipeline: 2,
  'test-api': 3,
  server: 4,
  'dev-env': 5,
  bench: 6,
  chaos: 6,
  tests: 7,
}

const texts = readTree(['ts', 'tsx', 'mjs', 'json', 'md', 'yaml', 'yml', 'html', 'css'])
const files = [...texts.keys()]
const code = [...texts].filter(([file]) => /\.(tsx?|mjs)$/.test(file))
const workspaces = files
  .filter((file) => /^((packages|apps)\/[^/]+|tests|bench|chaos)\/package\.json$/.test(file))
  .map(workspace)
const lock = JSON.parse(texts.get('package-lock.json')!) as { packages: Record<string, LockEntry> }

test('packages import only from lower layers', () => {
  const offences = workspaces.flatMap(({ name, needs }) => {
    const layer = LAYERS[name]
    if (layer === undefined) return [`${name} has no layer: give it one in tests/tidy.test.ts and CONTRIBUTING.md`]
    const upward = needs.filter((needed) => (LAYERS[needed] ?? Number.POSITIVE_INFINITY) >= layer)
    return upward.map((needed) => `${name} (layer ${layer}) may not import ${needed} (layer ${LAYERS[needed]})`)
  })
  expect(offences).toEqual([])
})

test('what a package imports of ours stands in its package.json, and only its surface is imported', () => {
  const offences = workspaces.flatMap(({ folder, name, needs, needsToRun }) =>
    code
      .filter(([file]) => file.startsWith(`${folder}/`))
      .flatMap(([file, text]) => {
        const allowed = file.endsWith('.test.ts') ? needs : needsToRun
        const packages = [...text.matchAll(/'@millrace\/([^'/]+)(?:\/[^']+)?'/g)].map((match) => match[1]!)
        const undeclared = packages.filter((imported) => !allowed.includes(imported))
        const outside = references(file, text).filter((target) => !target.startsWith(`${folder}/`))
        return [
          ...undeclared.map((each) => `${file} imports @millrace/${each}, which ${folder}/package.json does not name`),
          ...outside.map((target) => `${file} reaches out of ${name} for ${target}: import the package instead`),
        ]
      }),
  )
  expect(offences).toEqual([])
})

test('no part of the server reaches into another: what it needs of one is handed to it', () => {
  const parts = [...texts].filter(([file]) => /^apps\/server\/src\/parts\/\w/.test(file))
  const offences = parts.flatMap(([file, text]) =>
    references(file, text)
      .filter((target) => target.startsWith('apps/server/src/parts/') && !target.endsWith('/part.ts'))
      .map((target) => `${file} imports ${target}: name what it needs in its …Needs, and pass it in compose.ts`),
  )
  expect(parts.length).toBeGreaterThan(5)
  expect(offences).toEqual([])
})

test('no two packages export a class or a type of the same name', () => {
  const exported = new Map<string, Set<string>>()
  for (const [file, text] of code) {
    const home = /^(packages\/[^/]+|apps\/server)\/src\//.exec(file)?.[1]
    // The types of the API name the same things as the types behind it, as a client sees them.
    if (home === undefined || home === 'packages/api-types' || isForTests(file)) continue
    for (const [, name] of text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)) {
      exported.set(name!, (exported.get(name!) ?? new Set()).add(home))
    }
  }
  const shared = [...exported].filter(([, homes]) => homes.size > 1)
  expect(shared.map(([name, homes]) => `${name} is in ${[...homes].join(' and ')}: one word for one thing`)).toEqual([])
})

test('every source file is in use', () => {
  const reached = new Set<string>()
  const reach = (file: string) => {
    const text = texts.get(file)
    if (text === undefined || reached.has(file)) return
    reached.add(file)
    for (const target of references(file, text)) reach(target)
  }
  for (const { surface } of workspaces) surface.forEach(reach)
  for (const [file] of code) if (isStartingPoint(file)) reach(file)

  const sources = code.map(([file]) => file).filter((file) => /^(packages|apps|tests|bench|chaos)\//.test(file))
  const dead = sources.filter((file) => !reached.has(file))
  expect(
    dead.map((file) => `${file} is reached from no index.ts, main.ts, thread or test: use it or remove it`),
  ).toEqual([])
})

test('no test keeps the others from running', () => {
  expect(found(/\b(?:test|it|describe)(?:\.\w+)*\.only\b/, code)).toEqual([])
})

test('nothing is left to do without the number of its issue', () => {
  expect(found(/\bTODO\b(?!\(#\d+\))/, code)).toEqual([])
})

test('the highest value of something is called MAX_', () => {
  expect(found(/\b(?:MOST|LARGEST|LONGEST)_[A-Z]/, code)).toEqual([])
})

test('no file knows the machine it was written on', () => {
  expect(found(/(?<![\w.])\/(?:work|root)\//, [...texts])).toEqual([])
})

test('every dependency has one exact version', () => {
  const manifests = files.filter((file) => /(^|\/)package\.json$/.test(file))
  const offences = manifests.flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(texts.get(file)!) as Manifest
    const ranges = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    return ranges
      .filter(([, range]) => !/^(npm:.+@)?\d+\.\d+\.\d+/.test(range))
      .map((entry) => `${file}: ${entry.join(' ')}`)
  })
  expect(offences).toEqual([])
})

test('the lock names no registry, and the packages of every platform', () => {
  const entries = Object.entries(lock.packages)
  const withAddress = entries.filter(([, { resolved }]) => resolved?.includes('://')).map(([place]) => place)
  expect(withAddress).toEqual([])

  // `npm ci` refuses a lock that lacks one; `npm install` leaves out what the registry does not have, and says nothing.
  const missing = entries.flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !lock.packages[`node_modules/${name}`] && !lock.packages[`${place}/node_modules/${name}`])
      .map((name) => `${place} needs ${name}`),
  )
  expect(missing).toEqual([])
})

test('one version of Node is pinned for every platform that has one', () => {
  const { optionalDependencies = {} } = JSON.parse(texts.get('package.json')!) as Manifest
  const pins = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'))
  const bootstrap = texts.get('scripts/install.mjs')!
  expect(pins.map(([name]) => name).filter((name) => !bootstrap.includes(`'${name}'`))).toEqual([])
  expect(pins.length).toBe(5)
  expect(new Set(pins.map(([, version]) => version)).size).toBe(1)
})

interface Manifest {
  readonly name: string
  readonly exports?: Record<string, string>
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}

interface LockEntry {
  readonly resolved?: string
  readonly optionalDependencies?: Record<string, string>
}

function workspace(file: string) {
  const folder = path.dirname(file)
  const { name, exports = {}, dependencies, devDependencies } = JSON.parse(texts.get(file)!) as Manifest
  return {
    folder,
    name: ownName(name)!,
    /** Files that others may import. */
    surface: Object.values(exports).map((target) => path.join(folder, target)),
    /** Packages of ours that it names at all, and those that it names for more than its tests. */
    needs: Object.keys({ ...dependencies, ...devDependencies }).flatMap((each) => ownName(each) ?? []),
    needsToRun: Object.keys({ ...dependencies }).flatMap((each) => ownName(each) ?? []),
  }
}

function ownName(packageName: string): string | undefined {
  return /^@millrace\/(.+)$/.exec(packageName)?.[1]
}

/** Files that a file names, whether to import them, to start them as a thread or to load them later. */
function references(file: string, text: string): string[] {
  const named = text.matchAll(/['"`](\.{1,2}\/[^'"`\s]+\.tsx?)['"`]/g)
  return [...named].map((match) => path.join(path.dirname(file), match[1]!))
}

function isForTests(file: string): boolean {
  return /\/testing\/|-under-test\.ts$|\.test\.ts$/.test(file)
}

function isStartingPoint(file: string): boolean {
  if (/(^|\/)main\.tsx?$/.test(file) || file.endsWith('.test.ts')) return true
  // A page of the dashboard is found by the name of its file (apps/dashboard/src/router.tsx).
  if (/^apps\/dashboard\/src\/pages\/[^/]+\/route\.ts$/.test(file)) return true
  // And its pictures alike (tests/dashboard/screens/sheets.ts).
  if (/^tests\/dashboard\/screens\/pages\/[^/]+\.ts$/.test(file)) return true
  // A program of a client library is run by its name, where the library is installed (tests/clients/toolchains.ts).
  if (/^tests\/clients\/drivers\/[^/]+\.mjs$/.test(file)) return true
  // A destination type is loaded by the name of its folder (packages/destinations/src/registry.ts).
  return /^packages\/destinations\/src\/types\/([^/]+)\/\1(\.cases)?\.ts$/.test(file)
}

function found(pattern: RegExp, among: readonly (readonly [string, string])[]): string[] {
  return among.flatMap(([file, text]) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? `${file}:${at + 1}: ${line.trim()}` : [])),
  )
}
