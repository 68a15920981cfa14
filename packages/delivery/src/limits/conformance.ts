import { describe } from 'vitest'
import { testCalls } from './conformance/calls.ts'
import { testOutages } from './conformance/outages.ts'
import type { OpenLimits } from './conformance/test-lane.ts'
import { testThrottle } from './conformance/throttle.ts'

/** Tests that every implementation of the limits must pass. */
export function describeDestinationLimits(implementation: string, open: OpenLimits): void {
  describe(`limits of a destination: ${implementation}`, () => {
    testCalls(open)
    testThrottle(open)
    testOutages(open)
  })
}
