import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./copy-main.ts', import.meta.url))

export interface DatabaseCopy {
  readonly from: string
  /** Must not exist; its folder is created. */
  readonly into: string
  /** Ends the copy at once; discard what it has written. */
  readonly signal: AbortSignal
}

/**
 * Copies one state of an SQLite database, in a separate process, while other connections write it. The copying
 * statement can only be interrupted by ending its process; a thread would end only after it.
 *
 * @throws Error with SQLite's message; AbortError once the signal is aborted and the process has ended.
 */
export async function copyDatabase({ from, into, signal }: DatabaseCopy): Promise<void> {
  signal.throwIfAborted()
  mkdirSync(dirname(into), { recursive: true, mode: 0o700 })
  const child = spawn(process.execPath, ['--no-warnings', PROGRAM, from, into], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  try {
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    signal.throwIfAborted()
    if (code !== 0) throw new Error(said === '' ? `the copy of ${from} ended with ${code}` : said)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}
