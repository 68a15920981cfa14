import { expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { RuleFaultError, readRules } from './read-rules.ts'

const CONDITION = { path: 'properties.value', operator: 'at_least', value: 100 }
const RULE = { action: 'deny', conditions: [CONDITION] }

function condition(member: object): JsonValue {
  return { list: [{ action: 'deny', conditions: [{ ...CONDITION, ...member }] }] }
}

/** Rules that cannot be, and what is said of them. */
const FAULTS: [JsonValue, string, string][] = [
  ['all', '', 'must be an object'],
  [[], '', 'must be an object'],
  [{ colour: 1 }, '/colour', 'is not known'],
  [{ 'a/b~': 1 }, '/a~1b~0', 'is not known'],
  [{ otherwise: 'send' }, '/otherwise', 'must be "allow" or "deny"'],
  [{ list: {} }, '/list', 'must be a list'],
  [{ list: Array(21).fill(RULE) }, '/list', 'must have at most 20 entries'],
  [{ otherwise: 'deny', list: [RULE] }, '/list', 'needs a rule that allows events, because "otherwise" is "deny"'],
  [{ list: [1] }, '/list/0', 'must be an object'],
  [{ list: [{ ...RULE, action: undefined as never }] }, '/list/0/action', 'must be "allow" or "deny"'],
  [
    { list: [RULE, { action: 'deny' }] },
    '/list/1',
    'needs types, events or conditions; for all other events there is "otherwise"',
  ],
  [{ list: [{ ...RULE, colour: 1 }] }, '/list/0/colour', 'is not known'],
  [{ list: [{ action: 'deny', types: [] }] }, '/list/0/types', 'must not be empty'],
  [
    { list: [{ action: 'deny', types: ['track', 'click'] }] },
    '/list/0/types/1',
    'must be "identify" or "track" or "page" or "screen" or "group" or "alias" or "merge"',
  ],
  [{ list: [{ action: 'deny', events: {} }] }, '/list/0/events/names', 'must be a list'],
  [
    { list: [{ action: 'deny', events: { match: 'regex', names: ['a'] } }] },
    '/list/0/events/match',
    'must be "exact" or "prefix" or "pattern"',
  ],
  [{ list: [{ action: 'deny', events: { names: [' '] } }] }, '/list/0/events/names/0', 'must be a text'],
  [
    { list: [{ action: 'deny', events: { names: Array(51).fill('a') } }] },
    '/list/0/events/names',
    'must have at most 50 entries',
  ],
  [
    { list: [{ action: 'deny', events: { match: 'pattern', names: ['*'.repeat(11)] } }] },
    '/list/0/events/names/0',
    'must have at most 10 stars',
  ],
  [
    { list: [{ action: 'deny', conditions: Array(11).fill(CONDITION) }] },
    '/list/0/conditions',
    'must have at most 10 entries',
  ],
  [condition({ path: '' }), '/list/0/conditions/0/path', 'is required'],
  [condition({ operator: 'equals', value: undefined }), '/list/0/conditions/0/value', 'is required'],
  [condition({ path: 'a..b' }), '/list/0/conditions/0/path', 'must be names joined by dots, such as properties.value'],
  [condition({ path: `${'a.'.repeat(10)}a` }), '/list/0/conditions/0/path', 'must have at most 10 names'],
  [condition({ path: 'a'.repeat(201) }), '/list/0/conditions/0/path', 'must have at most 200 characters'],
  [condition({ value: '100' }), '/list/0/conditions/0/value', 'must be a number'],
  [
    condition({ operator: 'equals', value: null }),
    '/list/0/conditions/0/value',
    'must be a text, a number, true or false',
  ],
  [
    condition({ operator: 'equals', value: 'a'.repeat(201) }),
    '/list/0/conditions/0/value',
    'must have at most 200 characters',
  ],
  [condition({ operator: 'in', value: 'a' }), '/list/0/conditions/0/value', 'must be a list'],
  [
    condition({ operator: 'in', value: Array(101).fill(1) }),
    '/list/0/conditions/0/value',
    'must have at most 100 entries',
  ],
  [condition({ operator: 'exists' }), '/list/0/conditions/0/value', 'is not for "exists"'],
  [
    condition({ operator: 'matches', value: '*'.repeat(11) }),
    '/list/0/conditions/0/value',
    'must have at most 10 stars',
  ],
]

test.each(FAULTS)('%j is refused at %s', (written, path, message) => {
  let fault: unknown
  try {
    readRules(JSON.parse(JSON.stringify(written)) as JsonValue)
  } catch (error) {
    fault = error
  }
  expect(fault).toBeInstanceOf(RuleFaultError)
  expect(fault).toMatchObject({ path, message })
})

test.each([
  ['"greater","value":1e999', '/list/0/conditions/0/value', 'must be a number'],
  ['"equals","value":-1e999', '/list/0/conditions/0/value', 'must be a text, a number, true or false'],
  ['"in","value":[1,1e999]', '/list/0/conditions/0/value/1', 'must be a text, a number, true or false'],
])('a number that JSON cannot store is refused: %s', (written, path, message) => {
  const text = `{"list":[{"action":"deny","conditions":[{"path":"properties.value","operator":${written}}]}]}`
  expect(() => readRules(JSON.parse(text))).toThrow(expect.objectContaining({ path, message }))
})

test('rules that let everything through are none', () => {
  expect(readRules(null)).toBe(undefined)
  expect(readRules({})).toBe(undefined)
  expect(readRules({ otherwise: 'allow', list: [] })).toBe(undefined)
})

test('defaults are filled in', () => {
  expect(readRules({ list: [{ action: 'deny', events: { names: ['a'] } }] })).toEqual({
    otherwise: 'allow',
    list: [{ action: 'deny', events: { match: 'exact', names: ['a'] } }],
  })
})
