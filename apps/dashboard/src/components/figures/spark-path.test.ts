import { expect, it } from 'vitest'
import { sparkPath } from './spark-path.ts'

it('draws from zero to the greatest value', () => {
  expect(sparkPath([0, 5, 10], 20, 10)).toBe('M0 10L10 5L20 0')
})

it('gaps stay, and a value alone is seen', () => {
  expect(sparkPath([null, 10, null, 5, 10], 40, 10)).toBe('M10 0h1M30 5L40 0')
})

it('nothing known is no line, and nothing happened is one along the ground', () => {
  expect(sparkPath([null, null], 20, 10)).toBe('')
  expect(sparkPath([0, 0], 20, 10)).toBe('M0 10L20 10')
})
