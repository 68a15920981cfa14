import { expect, it } from 'vitest'
import { stacked, stepTimes } from './chart-series.ts'

it('bars stand on those before them', () => {
  expect(
    stacked([
      [1, null, 3, null],
      [2, 5, null, null],
    ]),
  ).toEqual([
    [1, null, 3, null],
    [3, 5, 3, null],
  ])
})

it('the last step is the end of the range', () => {
  expect(stepTimes('1970-01-01T00:01:00.000Z', 10, 3)).toEqual([40_000, 50_000, 60_000])
})
