import { expect, test } from 'vitest'
import { isPartOf } from './part-of.ts'

test.each([
  ['BOOK', true],
  ['d1', true],
  ['', true],
  ['kiosk', false],
])('%s: %j', (part, isFound) => expect(isPartOf(part, 'Booking hook', 'd1')).toBe(isFound))
