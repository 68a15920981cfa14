import { rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compressFiles } from './compress-files.ts'
import { DIST_FOLDER } from './places.ts'
import { overBudget, sizesOf } from './sizes.ts'
import { sourcesHash, writeMark } from './sources-hash.ts'

/* Builds the dashboard into dist/, and fails when a part of it has grown over its budget (contracts/dashboard.md §13). */

const say = (line: string) => void process.stdout.write(`${line}\n`)

// Before the build, so that a file that changes meanwhile makes the next one.
const hash = sourcesHash()
process.env['NODE_ENV'] = 'production'
await build({ configFile: path.join(import.meta.dirname, '../vite.config.ts') })
const sizes = sizesOf(DIST_FOLDER)
for (const { name, bytes, budgetBytes } of sizes) say(`${name}: ${kilobytes(bytes)} of ${kilobytes(budgetBytes)}`)
const tooLarge = overBudget(sizes)
if (tooLarge.length === 0) {
  compressFiles(DIST_FOLDER)
  writeMark(hash)
} else {
  rmSync(DIST_FOLDER, { recursive: true })
  for (const { name, bytes, budgetBytes } of tooLarge) {
    say(`${name} is ${bytes - budgetBytes} bytes over its budget, gzip.`)
  }
  process.exitCode = 1
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
