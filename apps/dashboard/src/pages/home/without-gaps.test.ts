import { expect, test } from 'vitest'
import { withoutGaps } from './without-gaps.ts'

const MINUTE = 60_000

test('steps that are not known take their share of the longer one; those that are stay', () => {
  const long = { end: 10 * MINUTE, stepMs: 5 * MINUTE, values: [50, 20] }
  const course = { end: 9 * MINUTE, stepMs: MINUTE, values: [null, null, null, null, null, null, 3, null, 4] }
  expect(withoutGaps(course, long)).toEqual([10, 10, 10, 10, 10, 4, 3, 4, 4])
})

test('what no step knows stays a gap', () => {
  const long = { end: 10 * MINUTE, stepMs: 5 * MINUTE, values: [null, 20] }
  expect(withoutGaps({ end: 6 * MINUTE, stepMs: MINUTE, values: [null, null] }, long)).toEqual([null, 4])
  expect(withoutGaps({ end: 20 * MINUTE, stepMs: MINUTE, values: [null] }, long)).toEqual([null])
})
