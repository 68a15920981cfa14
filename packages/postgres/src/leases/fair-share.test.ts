import { expect, test } from 'vitest'
import { fairShare } from './fair-share.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
const held = (...numbers: number[]) => numbers.map((number) => ({ kind: 'shard', number, epoch: 1 }))

test.each<[string, number, number[], number, { back: number[]; claim: number }]>([
  ['a new member claims at most four per turn', 8, [], 1, { back: [], claim: 4 }],
  ['a member claims up to its share', 8, [0, 1], 2, { back: [], claim: 2 }],
  ['a member at its share does nothing', 8, [3, 1, 2, 0], 2, { back: [], claim: 0 }],
  ['the last claimed go first', 8, [5, 1, 7, 2, 0], 3, { back: [0, 2], claim: 0 }],
  ['the share is rounded up', 8, [0, 1, 2], 3, { back: [], claim: 0 }],
  ['more members than leases: one each', 2, [], 5, { back: [], claim: 1 }],
  ['what is no longer wanted goes, whatever the share', 2, [9, 0], 1, { back: [9], claim: 1 }],
  ['nothing is wanted', 0, [], 3, { back: [], claim: 0 }],
])('%s', (_, wanted, own, members, expected) => {
  const { toGiveBack, toClaim } = fairShare(numbers(wanted), held(...own), members)
  expect({ back: toGiveBack.map(({ number }) => number), claim: toClaim }).toEqual(expected)
})
