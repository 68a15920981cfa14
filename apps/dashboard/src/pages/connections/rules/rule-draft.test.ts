import type { ConnectionRules } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { draftOf, rulesOf, textOfValue, valueOfText } from './rule-draft.ts'

test.each<[string, string | number | boolean]>([
  ['100', 100],
  ['-2.5', -2.5],
  ['true', true],
  ['Cinema', 'Cinema'],
  ['two words', 'two words'],
  ['"100"', '100'],
  ['"true"', 'true'],
  ['"', '"'],
  ['1e3', '1e3'],
])('%s is written for %j', (text, value) => {
  expect(valueOfText(text)).toBe(value)
  expect(textOfValue(value)).toBe(text)
})

test.each(['"quoted"', ' padded ', '"a" and "b"', '', '0012', '-0'])('the text %j comes back as it was', (text) => {
  expect(valueOfText(textOfValue(text))).toBe(text)
})

test('rules are saved as they were read', () => {
  const rules: ConnectionRules = {
    otherwise: 'deny',
    list: [
      { action: 'allow', types: ['track'], events: { match: 'prefix', names: ['Seat'] } },
      {
        action: 'allow',
        conditions: [
          { path: 'properties.value', operator: 'at_least', value: 100 },
          { path: 'context.app.name', operator: 'in', value: ['Cinema', '7', 7, true] },
          { path: 'properties.code', operator: 'matches', value: '100' },
          { path: 'userId', operator: 'exists' },
        ],
      },
    ],
  }
  expect(rulesOf(draftOf(rules))).toEqual(rules)
})

test('without a rule, and all others allowed, there are none to save', () => {
  expect(rulesOf(draftOf(null))).toBe(null)
  expect(rulesOf({ otherwise: 'deny', list: [] })).toEqual({ otherwise: 'deny', list: [] })
})
