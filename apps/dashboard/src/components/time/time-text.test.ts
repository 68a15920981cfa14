import { expect, it } from 'vitest'
import { durationText, localTime } from './time-text.ts'

const now = new Date(2026, 10, 21, 23, 5, 0)

it.each([
  [new Date(2026, 10, 21, 9, 5, 3, 7), 'second', '09:05:03'],
  [new Date(2026, 10, 21, 9, 5, 3, 7), 'millisecond', '09:05:03.007'],
  [new Date(2026, 10, 20, 9, 5, 3), 'minute', '20 Nov 09:05'],
  [new Date(2025, 2, 4, 9, 5, 3), 'minute', '4 Mar 2025 09:05'],
] as const)('%s by the %s is %s', (at, precision, text) => {
  expect(localTime(at, now, precision)).toBe(text)
})

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
