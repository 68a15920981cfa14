import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

test.each([[[]], [['']]])('scripts/run.mjs without a file says its usage and fails: %j', (args) => {
  const script = join(dirname(import.meta.dirname), 'scripts/run.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'usage: node scripts/run.mjs <file> [arguments]\n',
  })
})
