import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

/* npm run sdk:verify: contracts/cordova-sdk.md §25 */

const ROOT = path.join(import.meta.dirname, '../..')

/** On a machine that has no program at all. */
const verify = (given: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [path.join(ROOT, 'scripts/sdk-verify.ts'), ...given], {
    encoding: 'utf8',
    env: { PATH: '', ...environment },
  })

test('steps whose tool is missing are skipped and say so', () => {
  const { status, stdout } = verify(['browser-scenarios', 'android-compile'])
  expect(stdout.trim().split('\n')).toEqual([
    'SKIPPED browser-scenarios: chromium not found',
    'SKIPPED android-compile: javac not found',
    'SKIPPED browser-scenarios',
    'SKIPPED android-compile',
  ])
  expect(status).toBe(0)
})

test('where everything is required a skip is a failure', () => {
  expect(verify(['browser-scenarios'], { SDK_REQUIRE_ALL: '1' }).status).toBe(1)
})

test('an unknown step is refused with the names of the steps', () => {
  const { status, stderr } = verify(['phone'])
  expect(status).toBe(64)
  expect(stderr).toMatch(/\n {2}types\n {2}lint\n {2}core\n(?:.|\n)*\n\nThere is no step phone\.\n$/)
})
