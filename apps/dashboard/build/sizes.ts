import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const KB = 1024

export interface Size {
  readonly name: string
  /** As gzip -9 makes it. */
  readonly bytes: number
  readonly budgetBytes: number
}

/** Of Vite's manifest.json, by the path of the source, or of the chunk for what has none. */
type Manifest = Readonly<Record<string, Chunk>>

interface Chunk {
  readonly file: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
  readonly isEntry?: boolean
  readonly isDynamicEntry?: boolean
}

/**
 * What a browser loads, for the first screen and for each part that comes later, against its budget.
 *
 * @see contracts/dashboard.md §13 [U18]
 */
export function sizesOf(folder: string): Size[] {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as Manifest
  const gzipped = (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(folder, file)), { level: 9 }).length, 0)
  const entry = Object.keys(manifest).filter((key) => manifest[key]!.isEntry)
  // With Home: see vite.config.ts.
  const first = new Set(entry.flatMap((key) => [...withImports(manifest, key)]))
  const styles = [...first].flatMap((key) => manifest[key]!.css ?? [])
  const later = Object.keys(manifest).filter((key) => manifest[key]!.isDynamicEntry && !first.has(key))
  return [
    { name: 'First screen, JS', bytes: gzipped(filesOf(manifest, first)), budgetBytes: 250 * KB },
    { name: 'First screen, CSS', bytes: gzipped(new Set(styles)), budgetBytes: 25 * KB },
    ...later.map((key) => {
      const own = [...withImports(manifest, key)].filter((each) => !first.has(each))
      return { name: key, bytes: gzipped(filesOf(manifest, own)), budgetBytes: budgetOf(key) }
    }),
  ]
}

export function overBudget(sizes: readonly Size[]): Size[] {
  return sizes.filter(({ bytes, budgetBytes }) => bytes > budgetBytes)
}

/** The editor, the charts and the reader of fixtures are loaded when they are used; everything else that comes later is a route. */
function budgetOf(key: string): number {
  if (/\beditor\b/.test(key)) return 190 * KB
  // A whole YAML library: docs/decisions/0050.
  return key.endsWith('/fixture-file.ts') ? 35 * KB : 25 * KB
}

function withImports(manifest: Manifest, key: string, seen = new Set<string>()): Set<string> {
  if (seen.has(key)) return seen
  seen.add(key)
  for (const imported of manifest[key]!.imports ?? []) withImports(manifest, imported, seen)
  return seen
}

function filesOf(manifest: Manifest, keys: Iterable<string>): Set<string> {
  return new Set([...keys].map((key) => manifest[key]!.file))
}
