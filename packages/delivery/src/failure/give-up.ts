import { isWaiting, type LaneEvent } from '../lane/queue/lane-event.ts'
import type { LaneQueue } from '../lane/queue/lane-queue.ts'
import type { Meaning } from './classify.ts'
import type { OutageReading } from './outage.ts'
import { EXPIRES_AFTER_MS, GIVE_UP_AFTER_MS, GIVE_UP_ATTEMPTS } from './retry-schedule.ts'

export type GiveUpReason = 'retry limit reached' | 'job expired' | 'refused'

const REFUSALS_UNTIL_REFUSED = 3

/** Both clocks: ages since acceptance go by the wall, ages of this process by the monotonic one. */
export interface ClockReading {
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
  { kind, status }: Pick<Meaning, 'kind' | 'status'>,
  delivered: number,
  outage: OutageReading,
  moment: ClockReading,
): GiveUpReason | undefined {
  const history = event.history!
  if (kind === 'answer' && (status === 401 || status === 403)) {
    if (history.refusals++ === 0) history.deliveredAtFirstRefusal = delivered
    if (history.refusals >= REFUSALS_UNTIL_REFUSED && delivered > history.deliveredAtFirstRefusal) return 'refused'
  }
  if (kind === 'unauthorised' || (kind === 'answer' && isOnlyPutOff(status)))
    return isExpired(event, moment) ? 'job expired' : undefined
  return hasFailedLongEnough(event, outage, moment) ? 'retry limit reached' : undefined
}

/** Whether an event that waits while the destination rests or refuses us is given up without an attempt of its own. */
export function giveUpInOutage(
  event: LaneEvent,
  outage: OutageReading,
  moment: ClockReading,
): GiveUpReason | undefined {
  if (outage.state === 'unauthorised') return isExpired(event, moment) ? 'job expired' : undefined
  return hasFailedLongEnough(event, outage, moment) ? 'retry limit reached' : undefined
}

/** Those of a lane that are given up so; at most `most`, in the order of their take-up. */
export function allGivenUpInOutage(
  queue: LaneQueue,
  outage: OutageReading,
  moment: ClockReading,
  most: number,
): { event: LaneEvent; reason: GiveUpReason }[] {
  const given: { event: LaneEvent; reason: GiveUpReason }[] = []
  /** How many of those that each event waits for are given up before it. */
  const freed = new Map<LaneEvent, number>()
  for (const event of queue.unfinished) {
    if (!isWaiting(event) || queue.isHeld(event)) continue
    // Nobody is given up before the earlier events of the same user.
    if (event.blockers !== (freed.get(event) ?? 0)) continue
    const reason = giveUpInOutage(event, outage, moment)
    if (reason === undefined) continue
    given.push({ event, reason })
    if (given.length >= most) break
    for (const follower of [event.userFollower, event.anonymousFollower]) {
      if (follower !== undefined) freed.set(follower, (freed.get(follower) ?? 0) + 1)
    }
  }
  return given
}

/** 401, 403, 408 and 429 say nothing against the event: they are bound by its age only. */
function isOnlyPutOff(status: number): boolean {
  return status === 401 || status === 403 || status === 408 || status === 429
}

function isExpired(event: LaneEvent, { now }: ClockReading): boolean {
  return now - event.acceptedAt >= EXPIRES_AFTER_MS
}

function hasFailedLongEnough(event: LaneEvent, outage: OutageReading, { now, monotonic }: ClockReading): boolean {
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
