import type { JsonValue } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { mismatches } from './compare.ts'

const result = { type: 'track', properties: { hall: 'B', seats: [1, { row: 2 }] }, none: null, 'a/b': 1 }

test.each<[string, JsonValue]>([
  ['the whole result', result],
  ['some members of it', { properties: { hall: 'B' } }],
  ['nothing', {}],
  ['members in another order', { none: null, type: 'track' }],
  ['some members inside a list', { properties: { seats: [1, {}] } }],
])('%s fits', (_, expected) => {
  expect(mismatches(expected, result)).toEqual([])
})

test.each<[JsonValue, JsonValue, [path: string, expected: JsonValue, actual?: JsonValue | undefined][]]>([
  [{ a: 1 }, { a: 2 }, [['/a', 1, 2]]],
  [{ a: 1 }, { a: '1' }, [['/a', 1, '1']]],
  [{ a: null }, {}, [['/a', null, undefined]]],
  [{ a: {} }, { a: [] }, [['/a', {}, []]]],
  [{ a: [1] }, { a: [1, 2] }, [['/a', [1], [1, 2]]]],
  [
    { a: [1, 2] },
    { a: [2, 1] },
    [
      ['/a/0', 1, 2],
      ['/a/1', 2, 1],
    ],
  ],
  [{ 'a/b~': 1 }, { 'a/b~': 2 }, [['/a~1b~0', 1, 2]]],
  [{ constructor: {} }, {}, [['/constructor', {}, undefined]]],
  [[], {}, [['', [], {}]]],
])('%j is told from %j', (expected, actual, told) => {
  expect(mismatches(expected, actual)).toEqual(told.map(([path, e, a]) => ({ path, expected: e, actual: a })))
})
