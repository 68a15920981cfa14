import { expect, test } from 'vitest'
import { ulidOf, uuidOf } from './derived-ids.ts'

const TIME = Date.parse('2026-03-04T09:15:27.120Z')

test('an id that has the form already stays as it is', () => {
  expect(uuidOf('e1b27573-4cfe-46d6-831b-5f718d3c8d94')).toBe('e1b27573-4cfe-46d6-831b-5f718d3c8d94')
  expect(ulidOf('01ARZ3NDEKTSV4RRFFQ69G5FAV', TIME)).toBe('01ARZ3NDEKTSV4RRFFQ69G5FAV')
})

test('the same id always gives the same, another one another', () => {
  for (const idOf of [uuidOf, (id: string) => ulidOf(id, TIME)]) {
    expect(idOf('m-88')).toBe(idOf('m-88'))
    expect(idOf('m-88')).not.toBe(idOf('m-89'))
  }
})

test('a derived UUID is one of version 8', () => {
  expect(uuidOf('m-88')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a derived ULID begins with its time', () => {
  // The example of the ULID specification: 1469918176385 is 01ARYZ6S41.
  expect(ulidOf('m-88', 1_469_918_176_385)).toMatch(/^01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/)
  expect(ulidOf('m-88', -1)).toMatch(/^0{10}/)
  expect(ulidOf('m-88', 2 ** 60)).toMatch(/^7Z{9}/)
})
