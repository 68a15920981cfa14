import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

/** Folder of the server that the test files of one run share, and the process that runs them. */
export const RUN_FOLDER = 'MILLRACE_TEST_POSTGRES_FOLDER'
export const RUN_PROCESS = 'MILLRACE_TEST_POSTGRES_RUN'

/** Called by Vitest once before the test files of a run. Starts nothing: most runs need no Postgres. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'millrace-postgres-'))
  process.env[RUN_FOLDER] = folder
  process.env[RUN_PROCESS] = `${process.pid}`
  return async () => {
    const pidFile = path.join(folder, 'data/postmaster.pid')
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGQUIT')
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
