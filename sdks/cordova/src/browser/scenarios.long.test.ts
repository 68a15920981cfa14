import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PageDevice } from '../testing/page-device.ts'
import { runScenario } from '../testing/run-scenario.ts'
import { scenarioFiles } from '../testing/scenario.ts'
import { ScenarioServer } from '../testing/scenario-server.ts'

/* Every file of conformance/, by the engine of a page in a real Chromium (contracts/cordova-sdk.md §28 items 35, 56 and 58). */

let server: ScenarioServer
let device: PageDevice
beforeAll(async () => {
  server = await ScenarioServer.open()
  device = await PageDevice.open()
}, 60_000)
afterAll(async () => {
  await device?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

describe.each(scenarioFiles())('$name', ({ scenarios }) => {
  test.each(scenarios)('$name', async (scenario) => {
    await runScenario(scenario, device, server)
    expect((await device.storedKeys()).filter((key) => key !== 'service-sdk-cordova.guard')).toEqual([])
  })
})
