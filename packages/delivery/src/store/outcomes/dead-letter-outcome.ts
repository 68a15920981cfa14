import type { DeadLetterState } from '../dead-letter-store.ts'
import { DROPPED } from './outcome-block.ts'

/** The outcome shown for an event that is or was a dead letter; `waiting` while its replay is in progress. */
export function outcomeOfDeadLetter(letter: {
  readonly state: DeadLetterState
  readonly reason: string
  readonly endReason: string | null
}) {
  const { state, reason, endReason } = letter
  switch (state) {
    case 'open':
      return { outcome: 'dead_lettered', reason } as const
    case 'replaying':
      return { outcome: 'waiting', reason: null } as const
    case 'resolved':
      if (endReason === DROPPED) return { outcome: DROPPED, reason: null } as const
      return { outcome: endReason === null ? 'delivered' : 'filtered', reason: endReason } as const
    case 'discarded':
      return { outcome: 'discarded', reason: endReason ?? reason } as const
  }
}
