import { spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Runs `millrace settings`. @returns exit code and standard error. */
async function settingsTo(stdout: number | 'pipe') {
  const env = { PATH: process.env['PATH'] }
  const child = spawn(process.execPath, [MAIN, 'settings'], { env, stdio: ['ignore', stdout, 'pipe'] })
  // A reader that is gone before the first line.
  child.stdout?.destroy()
  let err = ''
  child.stderr!.on('data', (chunk) => {
    err += chunk
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  return [code, err]
}

test.skipIf(process.platform !== 'linux')('a command whose output cannot be written has failed', async () => {
  const error = 'The output cannot be written: ENOSPC: no space left on device, write.\n'
  expect(await settingsTo(openSync('/dev/full', 'w'))).toEqual([1, error])
})

test('a command whose reader has gone ends silently', async () => {
  expect(await settingsTo('pipe')).toEqual([0, ''])
})
