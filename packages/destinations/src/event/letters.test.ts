import { expect, test } from 'vitest'
import { lettersOf } from './letters.ts'

test('case and spacing do not tell names apart, nor does the form of their accents', () => {
  expect(new Set(['Order Completed', 'order_completed', 'orderCompleted'].map(lettersOf)).size).toBe(1)
  expect(lettersOf('Cafe\u0301 Opened')).toBe(lettersOf('caf\u00e9-opened'))
})

test('names that differ in their marks are different', () => {
  expect(lettersOf('\u0915\u0940')).not.toBe(lettersOf('\u0915\u0947'))
})
