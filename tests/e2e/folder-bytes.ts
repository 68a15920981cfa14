import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below a folder with its bytes, by its path in there. */
export function folderBytes(folder: string): Map<string, Buffer> {
  const paths = globSync('**', { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile())
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path))]))
}
