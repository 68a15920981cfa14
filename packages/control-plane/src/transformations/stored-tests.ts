import { badRequest, closed, named, refuseUnknownMembers, Type } from '@millrace/openapi'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import { NAME, readText } from '../resources/written-fields.ts'
import type { StoredTest } from './transformation.ts'

const MAX_TESTS = 100
export const MAX_TEST_EVENTS = 100
const MAX_ID_LENGTH = 64

const event = Type.Record(Type.String(), Type.Unknown())

export const STORED_TEST = named(
  'TransformationTest',
  closed({
    id: Type.String({ minLength: 1, maxLength: MAX_ID_LENGTH, description: 'Unique among the tests.' }),
    name: NAME,
    input: Type.Array(event, { minItems: 1, maxItems: MAX_TEST_EVENTS }),
    expectedOutput: Type.Array(event, { description: 'All resulting events, in order.' }),
  }),
)

const MEMBERS = Object.keys(STORED_TEST.properties)

/** @param written `{"tests": […]}` @throws ApiError 400 */
export function readStoredTests(written: JsonObject): StoredTest[] {
  const tests = ownMember(written, 'tests')
  if (!Array.isArray(tests)) throw badRequest('tests must be a list')
  refuseUnknownMembers(written, ['tests'])
  if (tests.length > MAX_TESTS) throw badRequest('Too many tests')
  const ids = new Set<string>()
  return tests.map((each) => {
    const test = readStoredTest(each)
    if (ids.has(test.id)) throw badRequest(`Test with id ${test.id} is listed twice`)
    ids.add(test.id)
    return test
  })
}

function readStoredTest(written: JsonValue): StoredTest {
  if (!isJsonObject(written)) throw badRequest('tests must be a list of objects')
  const id = readText(written, 'id')
  if ([...id].length > MAX_ID_LENGTH) throw badRequest('id is too long')
  const name = readText(written, 'name')
  if ([...name].length > NAME.maxLength) throw badRequest('name is too long')
  const input = readEvents(written, 'input')
  if (input.length === 0) throw badRequest('input is required')
  if (input.length > MAX_TEST_EVENTS) throw badRequest('Too many events')
  const expectedOutput = readEvents(written, 'expectedOutput')
  refuseUnknownMembers(written, MEMBERS)
  return { id, name, input, expectedOutput }
}

function readEvents(written: JsonObject, member: string): JsonObject[] {
  const events = ownMember(written, member)
  if (events === undefined) throw badRequest(`${member} is required`)
  if (!Array.isArray(events) || !events.every(isJsonObject)) throw badRequest(`${member} must be a list of events`)
  return events
}
