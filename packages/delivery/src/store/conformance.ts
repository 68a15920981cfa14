import { describe } from 'vitest'
import { testFlushContent } from './conformance/flush-content.ts'
import { testManyLetters } from './conformance/letter-model.ts'
import { testLetters } from './conformance/letters.ts'
import { testOtherState } from './conformance/other-state.ts'
import { testOutcomes } from './conformance/outcomes.ts'
import { testPartitions } from './conformance/partitions.ts'
import type { MakePlace } from './conformance/store-place.ts'

/** Tests that every engine of the delivery store must pass. `makePlace` returns a place without state. */
export function describeDeliveryStore(engine: string, makePlace: MakePlace): void {
  describe(`delivery store: ${engine}`, () => {
    testOutcomes(makePlace)
    testFlushContent(makePlace)
    testLetters(makePlace)
    testManyLetters(makePlace)
    testPartitions(makePlace)
    testOtherState(makePlace)
  })
}
