import type { Outcome } from '@millrace/api-types'
import type { MarkKind } from '../../components/state-mark.tsx'

/** Mark and word of an outcome. */
export const OUTCOME_MARKS: Readonly<Record<Outcome, { readonly mark: MarkKind; readonly word: string }>> = {
  pending: { mark: 'waiting', word: 'pending' },
  blocked: { mark: 'waiting', word: 'blocked' },
  throttled: { mark: 'waiting', word: 'throttled' },
  retrying: { mark: 'behind', word: 'retrying' },
  delivered: { mark: 'ok', word: 'delivered' },
  filtered: { mark: 'off', word: 'filtered' },
  dropped_by_transformation: { mark: 'off', word: 'dropped' },
  duplicate: { mark: 'off', word: 'duplicate' },
  dead_lettered: { mark: 'dead', word: 'dead' },
  discarded: { mark: 'failed', word: 'discarded' },
  expired: { mark: 'failed', word: 'expired' },
}

/** Order of interest: failed, in progress, excluded, delivered. */
const URGENCY: readonly Outcome[] = [
  'dead_lettered',
  'expired',
  'discarded',
  'retrying',
  'blocked',
  'throttled',
  'pending',
  'dropped_by_transformation',
  'filtered',
  'duplicate',
  'delivered',
]

/** Undelivered first. */
export function byUrgency(a: { readonly outcome: Outcome }, b: { readonly outcome: Outcome }): number {
  return URGENCY.indexOf(a.outcome) - URGENCY.indexOf(b.outcome)
}
