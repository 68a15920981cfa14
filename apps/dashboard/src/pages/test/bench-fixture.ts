import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import type { MessageTest } from '@millrace/protocol/message-test-file'
import type { StageFlags } from '../../api/test-api.ts'
import { type ProcessedResult, stageOutcomes } from './bench-outcome.ts'

/**
 * The `*.millrace-test.yaml` of a run: one test for each of the first two stages that ran. Secrets are `********`, as
 * in the results of such a test.
 *
 * @param result of a run with all attached transformations and the saved configuration.
 * @see contracts/dashboard.md §7, docs/decisions/0050
 */
export function fixtureTests(
  name: string,
  destinationKey: string,
  message: JsonObject,
  flags: StageFlags,
  result: ProcessedResult,
): MessageTest[] {
  const { user_transformed_payload: user, dest_transformed_payload: dest } = result.data[0] ?? {}
  const outcomes = stageOutcomes(result, flags)
  const test = (stage: MessageTest['stage'], expect: JsonValue): MessageTest => {
    return { name: `${name} (${stage})`, destination: destinationKey, stage, message, expect }
  }
  const tests: MessageTest[] = []
  if (flags.user_transform && outcomes.user.state !== 'none' && user !== undefined) tests.push(test('user', user))
  // If user code failed, the test of the requests expects that failure.
  const requests = outcomes.dest.state === 'aborted' ? user : dest
  if (flags.dest_transform && requests !== undefined) tests.push(test('dest', requests as JsonValue))
  return tests
}

/** `Seat Reserved → Booking hook` as a file name: `seat-reserved-booking-hook`. */
export function fixtureFileName(name: string): string {
  const words = name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
  return words.join('-').slice(0, 80) || 'message'
}
