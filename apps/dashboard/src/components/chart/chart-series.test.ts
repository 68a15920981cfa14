import { expect, it } from 'vitest'
import { stepTimes } from './chart-series.ts'

it('the last step is the end of the range', () => {
  expect(stepTimes('1970-01-01T00:01:00.000Z', 10, 3)).toEqual([40_000, 50_000, 60_000])
})
