import { expect, test } from 'vitest'
import { oneOf, sortBy, text, unknownNames } from './search-values.ts'

test.each([
  ['name', 'name'],
  ['-rate', '-rate'],
  ['--rate', undefined],
  ['ra-te', undefined],
  ['secret', undefined],
  ['-', undefined],
])('a list that knows name and rate takes the order %s as %s', (given, taken) => {
  expect(sortBy('name', 'rate')(given)).toBe(taken)
})

test('what a link holds and nobody can read is named, and nothing else', () => {
  const readers = { q: text, state: oneOf('on', 'off'), sort: sortBy('name') }
  expect(unknownNames(readers, { q: 'cinema', state: 'lost', sort: '-name', page: '2', empty: '' })).toEqual([
    'state',
    'page',
  ])
})
