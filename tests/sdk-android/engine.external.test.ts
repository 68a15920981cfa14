import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Classes,
  compileEngine,
  compileTests,
  conformanceFolder,
  type JavaResult,
  mayBeSkipped,
  runTests,
  whatIsMissing,
} from './toolchain.ts'

/*
 * The Java of sdks/cordova/src/android, unchanged, on Android's own SQLite under Robolectric. What only a phone can show is
 * on the manual checklist (sdks/cordova/src/android/README.md).
 */

const missing = await whatIsMissing()
if (missing) process.stderr.write(`SKIPPED Android engine: ${missing}\n`)

const promises = {
  ScenarioTest: 'every scenario of conformance/ holds on the Java engine',
}

describe.skipIf(missing && mayBeSkipped)('the Android engine', () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'millrace-sdk-android-'))
  let classes: Classes
  let results: readonly JavaResult[]

  beforeAll(async () => {
    if (missing) throw new Error(missing)
    classes = await compileTests(path.join(temporary, 'tests'))
    results = await runTests(classes, Object.keys(promises))
  }, 600_000)

  afterAll(() => rmSync(temporary, { recursive: true, force: true }))

  test('compiles against the current Android API and the real Cordova framework without a warning', () =>
    compileEngine(11, 35, path.join(temporary, 'current')))

  test('uses nothing that Android 7.0, the oldest that cordova-android 13 allows, does not have', () =>
    compileEngine(8, 24, path.join(temporary, 'oldest')))

  test.each(Object.entries(promises))('%s: %s', (testClass) => {
    const own = results.filter((result) => result.testClass === testClass)
    expect(own.filter((result) => result.failure !== null).map(({ name, failure }) => `${name}\n${failure}`)).toEqual(
      [],
    )
    expect(own.length).toBeGreaterThan(0)
  })

  test('no scenario was left out', () => {
    const files = globSync('**/*.json', { cwd: conformanceFolder() })
    const scenarios = files.flatMap((file) => {
      const { name, scenarios } = JSON.parse(readFileSync(path.join(conformanceFolder(), file), 'utf8'))
      return scenarios.map((scenario: { name: string }) => `holds[${name}: ${scenario.name}]`)
    })
    const ran = results.filter((result) => result.testClass === 'ScenarioTest').map((result) => result.name)
    expect(ran.toSorted()).toEqual(scenarios.toSorted())
  })
})
