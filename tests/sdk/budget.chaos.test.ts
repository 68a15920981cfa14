import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

/* contracts/cordova-sdk.md §23, §28 item 55. How long calls take is measured by `npm run bench -- P15`. */

const ROOT = path.join(import.meta.dirname, '../..')

let copy: string
beforeEach(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'millrace-budget-'))
  for (const file of ['scripts/build-sdk.ts', 'apps/dev-env/src/program-arguments.ts']) {
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true })
    cpSync(path.join(ROOT, file), path.join(copy, file))
  }
  for (const part of ['src', 'types', 'package.json']) {
    cpSync(path.join(ROOT, 'sdks/cordova', part), path.join(copy, 'sdks/cordova', part), { recursive: true })
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
})
afterEach(() => rmSync(copy, { recursive: true, force: true }))

const built = () =>
  spawnSync(process.execPath, [path.join(copy, 'scripts/build-sdk.ts')], { cwd: copy, encoding: 'utf8' })

test('the bundle is within its budget', () => {
  const { status, stdout, stderr } = built()
  expect([status, stderr]).toEqual([0, ''])
  expect(Number(/www: (\d+) of 16384 bytes/.exec(stdout)![1])).toBeLessThanOrEqual(16_384)
})

test('the build fails when the bundle grows past its budget', () => {
  // What does not repeat does not compress.
  const text = Array.from({ length: 3_000 }, (_, at) => ((at * 2_654_435_761) % 2 ** 32).toString(36)).join('')
  appendFileSync(path.join(copy, 'sdks/cordova/src/entries/cordova.ts'), `\nconsole.log('${text}')\n`)
  const { status, stderr } = built()
  expect(status).toBe(1)
  expect(stderr).toMatch(/^The bundle is \d+ bytes over its budget\.$/m)
})
