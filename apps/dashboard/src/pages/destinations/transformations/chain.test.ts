import { expect, test } from 'vitest'
import { moved } from './chain.ts'

test.each([
  [0, 1, ['b', 'a', 'c']],
  [2, -1, ['a', 'c', 'b']],
  [0, -1, ['a', 'b', 'c']],
  [2, 1, ['a', 'b', 'c']],
] as const)('member %d moves by %d', (at, by, chain) => expect(moved(['a', 'b', 'c'], at, by)).toEqual(chain))
