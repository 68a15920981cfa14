import { expect, it } from 'vitest'
import { greatest, rateOf, summed, sumOf } from './series.ts'

it('rates are of the last minute, over what is known of it', () => {
  expect(rateOf([100, 10, 20, 30, 40, 50, 60], 10)).toBe(3.5)
  expect(rateOf([null, null, 30], 10)).toBe(3)
  expect(rateOf([null, null], 10)).toBeNull()
  expect(rateOf(undefined, 10)).toBeNull()
})

it('sums from the end, where nothing is known null', () => {
  expect(summed([9, 1, 2, null, null, null, 3], 2)).toEqual([9, 3, null, 3])
})

it('takes the greatest from the end, where nothing is known null', () => {
  expect(greatest([9, 1, 2, null, null, null, 3], 2)).toEqual([9, 2, null, 3])
})

it('counts what is not known as nothing', () => {
  expect(sumOf([1, null, 2])).toBe(3)
})
