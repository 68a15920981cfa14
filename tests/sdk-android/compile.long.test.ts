import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { compileEngine, mayBeSkipped, whatIsMissing } from './toolchain.ts'

/* The Java that the plugin ships, compiled as an app would compile it: contracts/cordova-sdk.md §25 step 6. */

const PATIENT_MS = 600_000
const missing = await whatIsMissing()
if (missing) process.stderr.write(`SKIPPED Android compile: ${missing}\n`)

describe.skipIf(missing && mayBeSkipped)('the Java of the plugin', { timeout: PATIENT_MS }, () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'millrace-sdk-android-'))
  afterAll(() => rmSync(temporary, { recursive: true, force: true }))

  test('compiles against the current Android API and the real Cordova framework without a warning', () =>
    compileEngine(11, 35, path.join(temporary, 'current')))

  test('uses nothing that Android 7.0, the oldest that cordova-android 13 allows, does not have', () =>
    compileEngine(8, 24, path.join(temporary, 'oldest')))
})
