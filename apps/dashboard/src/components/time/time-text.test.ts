import { expect, it } from 'vitest'
import { localTime } from './time-text.ts'

const now = new Date(2026, 10, 21, 23, 5, 0)

it.each([
  [new Date(2026, 10, 21, 9, 5, 3, 7), 'second', '09:05:03'],
  [new Date(2026, 10, 21, 9, 5, 3, 7), 'millisecond', '09:05:03.007'],
  [new Date(2026, 10, 20, 9, 5, 3), 'minute', '20 Nov 09:05'],
  [new Date(2025, 2, 4, 9, 5, 3), 'minute', '4 Mar 2025 09:05'],
] as const)('%s by the %s is %s', (at, precision, text) => {
  expect(localTime(at, now, precision)).toBe(text)
})
