import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runScenario } from '../run-scenario.ts'
import { scenarioFiles } from '../scenario.ts'
import { ScenarioServer } from '../scenario-server.ts'
import { IosDevice } from './ios-device.ts'
import { compilePhone, compileStrictly, findCompiler, mayBeSkipped } from './toolchain.ts'

/*
 * Every file of conformance/ and conformance/sqlite, by the C of the iOS engine under AddressSanitizer, LeakSanitizer and
 * UndefinedBehaviorSanitizer (contracts/cordova-sdk.md §25 step 5, §28 items 35, 53 and 58).
 */

const compiler = await findCompiler()
if (typeof compiler === 'string') process.stderr.write(`SKIPPED iOS engine: ${compiler}\n`)

describe.skipIf(typeof compiler === 'string' && mayBeSkipped)('the iOS engine', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-ios-scenarios-'))
  let server: ScenarioServer
  let device: IosDevice

  beforeAll(async () => {
    if (typeof compiler === 'string') throw new Error(compiler)
    server = await ScenarioServer.open()
    device = new IosDevice(await compilePhone(compiler))
  }, 180_000)
  afterAll(async () => {
    await device?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  describe.each([...scenarioFiles(), ...scenarioFiles('sqlite')])('$name', ({ scenarios }) => {
    test.each(scenarios)('$name', async (scenario) => {
      await runScenario(scenario, device, server)
      await device.end()
    })
  })

  test('compiles without a warning, optimised as an app is', async () => {
    if (typeof compiler === 'string') throw new Error(compiler)
    await expect(compileStrictly(compiler, folder, ['-O2'])).resolves.toBeUndefined()
  })
})
