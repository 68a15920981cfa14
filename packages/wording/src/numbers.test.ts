import fc from 'fast-check'
import { expect, test } from 'vitest'
import { grouped } from './numbers.ts'

const english = new Intl.NumberFormat('en-US')

test('numbers are written as in English: 1,204 and -12,345.679', () => {
  expect(grouped(1_204)).toBe('1,204')
  expect(grouped(-12_345.6789)).toBe('-12,345.679')
  fc.assert(fc.property(fc.maxSafeInteger(), (count) => grouped(count) === english.format(count)))
  fc.assert(fc.property(fc.integer({ min: -1e9, max: 1e9 }), (n) => grouped(n / 100) === english.format(n / 100)))
})
