import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildFolder } from './places.ts'
import { sourcesHash } from './sources-hash.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
/** Longer than any build takes: a start must not wait for ever. */
const TIMEOUT_MS = 300_000

/**
 * The folder of the built dashboard; builds it first when it is missing, or was made of other sources.
 *
 * @param say is told in one line that it is being built.
 * @throws Error with what the build said.
 */
export async function builtDashboard(say: (line: string) => void): Promise<string> {
  const folder = buildFolder(sourcesHash())
  if (existsSync(folder)) return folder
  say('Building the dashboard, which takes a few seconds and is done once…')
  await runBuild()
  return folder
}

/** In a process of its own, so that what a build needs is gone with it. */
function runBuild(): Promise<void> {
  return new Promise((resolve, reject) => {
    const build = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk
    }
    build.stdout.on('data', hear)
    build.stderr.on('data', hear)
    build.on('error', reject)
    build.on('close', (code) => (code === 0 ? resolve() : reject(new Error(said.trim() || `it ended with ${code}`))))
  })
}
