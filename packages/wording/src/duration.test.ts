import { expect, it } from 'vitest'
import { durationText } from './duration.ts'

it.each([
  [0, '0 ms'],
  [84, '84 ms'],
  [1250, '1.2 s'],
  [30_004, '30 s'],
  [60_000, '1 min'],
  [3_599_000, '59 min'],
  [3_600_000, '1 h'],
  [12_000_000, '3 h 20 min'],
  [90_000_000, '1 d 1 h'],
])('%i ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})
