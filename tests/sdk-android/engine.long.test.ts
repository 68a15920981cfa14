import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Classes,
  compileTests,
  conformanceFolder,
  type JavaResult,
  killAt,
  mayBeSkipped,
  runTests,
  whatIsMissing,
} from './toolchain.ts'

/** Of one test, on a machine that has much else to do. */
const PATIENT_MS = 600_000

/*
 * The Java of sdks/cordova/src/android, unchanged, on Android's own SQLite under Robolectric. What only a phone can show is
 * in docs/cordova-sdk-on-android.md.
 */

const missing = await whatIsMissing()
if (missing) process.stderr.write(`SKIPPED Android engine: ${missing}\n`)

const promises = {
  ScenarioTest: 'every scenario of conformance/ holds',
  StorageFailureTest: 'a failure of SQLite itself leaves the app running and later events recorded, and is told',
  SendingTest: 'the network never holds up a call, opt-out ends a request, and no line shows the key',
  LifecycleTest: 'activities that start and stop are the only cause of start and stop',
  DrainJobTest: 'what is left on leaving is sent by the job, without a page, and only where that is allowed',
  DeviceFactsTest: 'facts are those of the contract, and no id is read that was not asked for',
  PluginTest: 'through the real Cordova classes an event goes from the page to the server',
}

describe.skipIf(missing && mayBeSkipped)('the Android engine', { timeout: PATIENT_MS }, () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'millrace-sdk-android-'))
  let classes: Classes
  let results: readonly JavaResult[]

  beforeAll(async () => {
    if (missing) throw new Error(missing)
    classes = await compileTests(path.join(temporary, 'tests'))
    results = await runTests(classes, Object.keys(promises))
  }, PATIENT_MS)

  afterAll(() => rmSync(temporary, { recursive: true, force: true }))

  test.each(Object.entries(promises))('%s: %s', (testClass) => {
    const own = results.filter((result) => result.testClass === testClass)
    expect(own.filter((result) => result.failure !== null).map(({ name, failure }) => `${name}\n${failure}`)).toEqual(
      [],
    )
    expect(own.length).toBeGreaterThan(0)
  })

  test('200 events that were stored before SIGKILL arrive after it, in order, once', async () => {
    const folder = path.join(temporary, 'killed')
    const stored = await killAt(200, classes, 'KilledProcess', { folder })
    expect(stored).toBeGreaterThanOrEqual(200)
    const [result] = await runTests(classes, ['AfterKill'], { folder, stored: String(stored) })
    expect(result?.failure).toBeNull()
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
