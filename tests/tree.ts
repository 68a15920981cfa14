import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.dirname(import.meta.dirname)

/** The texts of all files with these endings, by their paths from the root. */
export function readTree(endings: readonly string[]): Map<string, string> {
  const files = globSync(`**/*.{${endings.join(',')}}`, { cwd: root, exclude: isForeign })
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
}

/** Installed, made while running or building, or of git: not ours to judge. */
function isForeign(file: string): boolean {
  return ['node_modules', '.git', 'data', 'dist', 'target'].includes(path.basename(file))
}
