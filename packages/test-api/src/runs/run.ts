import { type DestinationModule, type Override, overriddenConfig } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { DestinationTest } from '../destination-test.ts'
import { extrasOf } from '../extras.ts'
import { maskingOf, shownReport } from '../shown/shown-report.ts'
import type { TestedDestination } from '../test-api-options.ts'
import { RESULT_TEXTS } from '../texts.ts'
import type { TestRun } from './test-run.ts'

/**
 * The test of one destination, up to its result object.
 *
 * @see contracts/test-api.md §4, §6, §7
 */
export async function testDestination(run: TestRun, destination: TestedDestination): Promise<JsonObject> {
  const { options, asked, tester } = run
  const { id, name, type } = destination
  const module = options.destinationTypes.find(type)
  if (module === undefined || module.definition.kind !== 'cloud') {
    return { destinationId: id, destinationName: name, error: RESULT_TEXTS.serverDelivered(type) }
  }
  tester.note(id)
  const override = overrideFor(run, destination, module)
  const test = new DestinationTest(run, destination, module, override)
  await test.run()
  const masking = maskingOf(module, destination.config, override, test, asked.masksSupplied)
  const data = [shownReport(test.report, masking)]
  const result = { destinationId: id, destination: type, destinationName: name, data }
  if (asked.include.size === 0) return result
  return { ...result, extras: extrasOf({ run, destination, module, override, test, masking }) }
}

/** The result object of a destination that is not tested because it is disabled. */
export function disabledResult({ id, name }: TestedDestination): JsonObject {
  return { destinationId: id, destinationName: name, error: RESULT_TEXTS.destinationDisabled(id) }
}

function overrideFor(
  { override, tester }: TestRun,
  { config }: TestedDestination,
  module: DestinationModule,
): Override {
  if (override !== undefined) return overriddenConfig(module, config, override, tester.role === 'admin')
  return { config, suppliedSecrets: [], secretsElsewhere: undefined, unknownKeys: [] }
}
