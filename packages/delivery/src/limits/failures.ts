import type { Failing } from '../lane/attempts/wait-cause.ts'
import type { LastFailure } from './destination-limits.ts'

/** What failed attempts of a destination said, for people. */
export interface Failures {
  last: LastFailure | undefined
  /** Failures since the last good answer. */
  failing: Failing | undefined
}
