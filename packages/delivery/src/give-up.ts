import type { LaneEvent } from './lane-event.ts'
import type { Outage } from './outage.ts'
import { EXPIRES_AFTER_MS, GIVE_UP_AFTER_MS, GIVE_UP_ATTEMPTS } from './retry-schedule.ts'

export type GiveUpReason = 'retry limit reached' | 'job expired' | 'refused'

const REFUSALS_UNTIL_REFUSED = 3

/** Both clocks: ages since acceptance go by the wall, ages of this process by the monotonic one. */
export interface Moment {
  readonly now: number
  readonly monotonic: number
}

/**
 * Whether an event whose attempt has just failed is given up.
 *
 * @param delivered events that the destination has accepted in all.
 * @see contracts/delivery.md §3 [D607, D641]
 */
export function giveUpAfterAttempt(
  event: LaneEvent,
  status: number,
  isAnswer: boolean,
  delivered: number,
  outage: Outage,
  moment: Moment,
): GiveUpReason | undefined {
  const history = event.history!
  if (isAnswer && (status === 401 || status === 403)) {
    if (history.refusals++ === 0) history.deliveredAtFirstRefusal = delivered
    if (history.refusals >= REFUSALS_UNTIL_REFUSED && delivered > history.deliveredAtFirstRefusal) return 'refused'
  }
  if (isAnswer && isOnlyPutOff(status)) return isExpired(event, moment) ? 'job expired' : undefined
  return hasFailedLongEnough(event, outage, moment) ? 'retry limit reached' : undefined
}

/** Whether an event that waits while the destination rests or refuses us is given up without an attempt of its own. */
export function giveUpInOutage(event: LaneEvent, outage: Outage, moment: Moment): GiveUpReason | undefined {
  if (outage.state === 'unauthorised') return isExpired(event, moment) ? 'job expired' : undefined
  return hasFailedLongEnough(event, outage, moment) ? 'retry limit reached' : undefined
}

/** 401, 403, 408 and 429 say nothing against the event: they are bound by its age only. */
function isOnlyPutOff(status: number): boolean {
  return status === 401 || status === 403 || status === 408 || status === 429
}

function isExpired(event: LaneEvent, { now }: Moment): boolean {
  return now - event.acceptedAt >= EXPIRES_AFTER_MS
}

function hasFailedLongEnough(event: LaneEvent, outage: Outage, { now, monotonic }: Moment): boolean {
  const probes = outage.state === 'resting' ? outage.failedProbes : 0
  const { history } = event
  const attempts = (history?.attemptsSinceStart ?? 0) + probes
  if (attempts < GIVE_UP_ATTEMPTS) return false
  const isAttempted = history !== undefined && history.attempts > 0
  if (isAttempted && monotonic - history.firstAttempt >= GIVE_UP_AFTER_MS) return true
  // It may have waited behind the outage before its own first attempt, as a probe.
  if (outage.state !== 'resting') return false
  return Math.min(monotonic - outage.since, now - event.acceptedAt) >= GIVE_UP_AFTER_MS
}
