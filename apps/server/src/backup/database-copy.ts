import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./copy-main.ts', import.meta.url))

export interface DatabaseCopy {
  readonly from: string
  /** Not there yet; its folder is made. */
  readonly into: string
  /** Ends the copy at once; what is there of it is worth nothing. */
  readonly signal: AbortSignal
}

/**
 * Copies an SQLite database as it is at one moment, while others write it: in a process of its own. Nothing interrupts the
 * one statement that copies it but the end of whoever carries it out, and a thread ends only after it.
 *
 * @throws Error with what SQLite says; AbortError once the signal is aborted and the process is gone.
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
