import { expect, test } from 'vitest'
import { failureParts, ownPlace } from './failure-places.ts'

const TEXT =
  'RangeError: price below zero\n    at toCents (library priceRules:2:22)\n    at transformEvent (base transformation:4:33)'

test('a failure names its places, in the code and in libraries', () => {
  expect(failureParts(TEXT)).toEqual([
    'RangeError: price below zero\n    at toCents (',
    { text: 'library priceRules:2:22', library: 'priceRules', line: 2, column: 22 },
    ')\n    at transformEvent (',
    { text: 'base transformation:4:33', line: 4, column: 33 },
    ')',
  ])
  expect(ownPlace(TEXT)).toMatchObject({ line: 4, column: 33 })
})

test('the name of a library may have letters of any script', () => {
  expect(failureParts('library größeÜber:2:22')).toMatchObject([{ library: 'größeÜber', line: 2, column: 22 }])
})

test('a text without places is one part', () => {
  expect(failureParts('Timed out')).toEqual(['Timed out'])
  expect(ownPlace('Timed out')).toBeUndefined()
})
