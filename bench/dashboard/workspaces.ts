import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LARGE, plant } from '@millrace/dev-env/seed'
import type { Bench } from '../bench.ts'
import { groundOf, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import { oncePerBench } from '../row.ts'

/** The seeds of `npm run dev`: a small workspace that works, and what lists and pages have to bear. */
export type Workspace = 'cinema' | 'large'

const ON = { MILLRACE_DASHBOARD: 'on' }
/** The first start may have to build the dashboard. */
const START_TIMEOUT_MS = 300_000
const FEW_DEAD_LETTERS = 2_000

/** A product with its dashboard that has such a workspace. */
export async function startWorkspace(bench: Bench, workspace: Workspace): Promise<Program> {
  if (workspace === 'large') {
    const dataFolder = await largeFolder(bench)
    return startProduct({ dataFolder, environment: ON, startTimeoutMs: START_TIMEOUT_MS })
  }
  const product = await startProduct({ environment: ON, startTimeoutMs: START_TIMEOUT_MS })
  await plant(groundOf(product, bench.spareUrl), workspace)
  return product
}

/** Made once, and gone with the bench. */
const largeFolder = oncePerBench(async (bench: Bench): Promise<string> => {
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'millrace-bench-large-'))
  process.on('exit', () => rmSync(dataFolder, { recursive: true, force: true }))
  console.error('making a large workspace …')
  await using product = await startProduct({ dataFolder })
  const size = bench.isSmall ? { ...LARGE, deadLetters: FEW_DEAD_LETTERS } : LARGE
  await plant(groundOf(product, bench.spareUrl), 'large', size)
  return dataFolder
})
