import { expect, it } from 'vitest'
import { axisText, stacked } from './plot-data.ts'

it('bars stand on those before them', () => {
  const series = [
    [1, null, 3, null],
    [2, 5, null, null],
  ]
  expect(stacked(series)).toEqual([
    [1, null, 3, null],
    [3, 5, 3, null],
  ])
})

it('a day begins with its date', () => {
  expect([new Date(2026, 10, 21, 23, 5), new Date(2026, 10, 22)].map(axisText)).toEqual(['23:05', '22 Nov'])
})
