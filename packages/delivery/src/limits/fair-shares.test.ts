import { expect, test } from 'vitest'
import { FairShares, sharesInts } from './fair-shares.ts'

test('a change that a thread left half done is corrected', () => {
  const ints = new Int32Array(sharesInts(3))
  const shares = new FairShares(ints)
  for (const lane of [0, 0, 1]) shares.take(lane)
  shares.wait(2)
  const good = [...ints]
  // It ended between the count of all and the count of its lane.
  for (const at of [0, 1]) ints[at]!++
  expect(shares.mayTake(0, 4)).toBe(false)
  shares.recount((lane) => shares.heldBy(lane))
  expect([...ints]).toEqual(good)
})

test('a lane beyond those that there is room for finds the others as they were', () => {
  const shares = new FairShares()
  shares.take(0)
  for (let lane = 1; lane < 20; lane++) shares.makeRoomFor(lane)
  shares.take(19)
  expect([shares.total, shares.heldBy(0), shares.heldBy(19), shares.heldBy(7)]).toEqual([2, 1, 1, 0])
})
