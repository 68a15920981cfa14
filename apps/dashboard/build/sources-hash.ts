import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { DASHBOARD_FOLDER } from './places.ts'

const PATTERNS = [
  'apps/dashboard/{src,build}/**',
  'apps/dashboard/*.*',
  'packages/{protocol,wording}/src/**',
  'docs/clients/*.md',
  'package-lock.json',
]

/** SHA-256, in hex, of everything that a build is made of: our sources, by name and content, and the lock. */
export function sourcesHash(): string {
  const root = path.resolve(DASHBOARD_FOLDER, '../..')
  const hash = createHash('sha256')
  const entries = PATTERNS.flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  for (const file of files.filter((each) => !/\.test\.tsx?$/.test(each)).sort()) {
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}
