import { expect, test } from 'vitest'
import { FairShares } from './fair-shares.ts'

test('a lane beyond those that there is room for finds the others as they were', () => {
  const shares = new FairShares()
  shares.take(0)
  for (let lane = 1; lane < 20; lane++) shares.makeRoomFor(lane)
  shares.take(19)
  expect([shares.total, shares.heldBy(0), shares.heldBy(19), shares.heldBy(7)]).toEqual([2, 1, 1, 0])
})
