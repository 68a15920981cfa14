import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { compressFiles } from './compress-files.ts'
import { keepFirst } from './keep-first.ts'
import { buildFolder, DIST_FOLDER } from './places.ts'
import { overBudget, sizesOf } from './sizes.ts'
import { sourcesHash } from './sources-hash.ts'

/* Builds the dashboard, and fails when a part of it has grown over its budget (contracts/dashboard.md §13). */

/** This build and the one before, which a server may still be serving. */
const BUILDS_KEPT = 2

const say = (line: string) => void process.stdout.write(`${line}\n`)

// Before the build, so that a file that changes meanwhile makes the next one.
const hash = sourcesHash()
// Others may build at the same time: each in a folder of its own, and the first that is whole stays.
const outDir = `${buildFolder(hash)}.${process.pid}`
try {
  process.env['NODE_ENV'] = 'production'
  await build({ configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)), build: { outDir } })
  const sizes = sizesOf(outDir)
  for (const { name, bytes, budgetBytes } of sizes) say(`${name}: ${kilobytes(bytes)} of ${kilobytes(budgetBytes)}`)
  const tooLarge = overBudget(sizes)
  for (const { name, bytes, budgetBytes } of tooLarge) say(`${name} is ${bytes - budgetBytes} bytes over its budget.`)
  if (tooLarge.length > 0) process.exitCode = 1
  else {
    compressFiles(outDir)
    mkdirSync(DIST_FOLDER, { recursive: true })
    keepFirst(outDir, buildFolder(hash))
    removeOldBuilds()
  }
} finally {
  rmSync(outDir, { recursive: true, force: true })
}

function removeOldBuilds(): void {
  const folders = readdirSync(DIST_FOLDER).filter((name) => /^[0-9a-f]{64}$/.test(name))
  const builds = folders.map((name) => path.join(DIST_FOLDER, name))
  const madeAt = (folder: string) => statSync(folder).mtimeMs
  for (const folder of builds.sort((a, b) => madeAt(b) - madeAt(a)).slice(BUILDS_KEPT)) {
    rmSync(folder, { recursive: true, force: true })
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
