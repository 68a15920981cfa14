import { afterAll, beforeAll, describe, test } from 'vitest'
import { MemoryDevice } from '../testing/memory-device.ts'
import { runScenario } from '../testing/run-scenario.ts'
import { scenarioFiles } from '../testing/scenario.ts'
import { ScenarioServer } from '../testing/scenario-server.ts'

/* Every file of conformance/, by the TypeScript engine over a store in memory (contracts/cordova-sdk.md §25, §28 item 58). */

let server: ScenarioServer
beforeAll(async () => {
  server = await ScenarioServer.open()
})
afterAll(() => server?.[Symbol.asyncDispose]())

describe.each(scenarioFiles())('$name', ({ scenarios }) => {
  test.each(scenarios)('$name', async (scenario) => {
    await using device = new MemoryDevice()
    await runScenario(scenario, device, server)
  })
})
