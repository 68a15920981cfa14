import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import type { MessageTest } from '@millrace/protocol/message-test-file'
import { indentedLine, json, oneLine } from '../paint.ts'
import { type Mismatch, mismatches } from './compare.ts'
import type { OfflineWorkspace } from './offline-workspace.ts'

/** The result of one test of a file. */
export interface TestOutcome {
  readonly file: string
  readonly name: string
  readonly destination: string
  readonly stage: MessageTest['stage']
  /** Lines that describe the failure, safe for a terminal; undefined if the test passes. */
  readonly failure: readonly string[] | undefined
  readonly mismatches: readonly Mismatch[]
  /** The compared value; undefined if it could not be created. */
  readonly result: JsonValue | undefined
}

/** Runs the tests of one file. */
export async function runTests(
  workspace: OfflineWorkspace,
  file: string,
  tests: readonly MessageTest[],
): Promise<TestOutcome[]> {
  const outcomes: TestOutcome[] = []
  for (const test of tests) outcomes.push(await runTest(workspace, file, test))
  return outcomes
}

async function runTest(workspace: OfflineWorkspace, file: string, test: MessageTest): Promise<TestOutcome> {
  const { name, destination: key, stage, message, expect } = test
  const told = { file, name, destination: key, stage }
  const destination = workspace.destination(key)
  if (destination === undefined) return failed(told, [`There is no destination "${key}" in the configuration.`])
  const flags = {
    user_transform: stage === 'user' || destination.transformations.length > 0,
    dest_transform: stage === 'dest',
  }
  let result: JsonObject
  try {
    result = await workspace.run(destination, message, flags)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'refused') throw error
    return failed(told, [(error as Error).message])
  }
  const compared = comparedIn(result, stage)
  const found = mismatches(expect, compared)
  if (found.length === 0) return { ...told, failure: undefined, mismatches: found, result: compared }
  return { ...told, failure: failureLines(compared, expect, found), mismatches: found, result: compared }
}

function failed(told: Pick<TestOutcome, 'file' | 'name' | 'destination' | 'stage'>, failure: string[]): TestOutcome {
  return { ...told, failure: failure.map((line) => oneLine(line)), mismatches: [], result: undefined }
}

/** The event after user code, or the requests of the destination; after a failure, the error. */
function comparedIn(result: JsonObject, stage: MessageTest['stage']): JsonValue {
  const stages = (result as { data?: [Record<string, JsonValue>] }).data?.[0]
  if (stages === undefined) return { error: result['error']! }
  const { user_transformed_payload: user, dest_transformed_payload: dest } = stages
  if (stage === 'user') return user!
  // The failure of user code says more than the later stage that did not run.
  return Array.isArray(dest) || user === undefined || !isFailure(user) ? dest! : user
}

function isFailure(value: JsonValue): boolean {
  return typeof (value as { error?: unknown } | null)?.error === 'string' && Object.keys(value as object).length === 1
}

/** A stage that failed without being expected to says why: a comparison with its result would not. */
function failureLines(result: JsonValue, expected: JsonValue, found: readonly Mismatch[]): string[] {
  const isExpected = isJsonObject(expected) && ownMember(expected, 'error') !== undefined
  return isFailure(result) && !isExpected
    ? indented('the stage failed:', (result as JsonObject)['error']!)
    : found.flatMap(mismatchLines)
}

function mismatchLines({ path, expected, actual }: Mismatch): string[] {
  return [
    path === '' ? 'the whole result' : oneLine(path, 1_000),
    ...indented('expected', expected),
    ...(actual === undefined ? ['  but there is nothing'] : indented('but got ', actual)),
  ]
}

function indented(word: string, value: JsonValue): string[] {
  // Each line of a multi-line text, such as a failure, is shown.
  const hasLines = typeof value === 'string' && value.includes('\n')
  const [first = '', ...rest] = hasLines ? value.split('\n').map(indentedLine) : json(value).split('\n')
  return [`  ${word} ${first}`, ...rest.map((line) => `  ${' '.repeat(word.length)} ${line}`)]
}
