import type { Waiting } from '@millrace/wording'
import type { OutageReading } from '../../failure/outage.ts'
import type { Failed } from '../history/delivery-history.ts'
import type { LaneEvent } from '../queue/lane-event.ts'

/** Failures of the destination since its last successful answer. */
export interface Failing {
  /** When the first failed attempt began, ms since 1970. */
  readonly since: number
  readonly last: Failed
}

/** The current state of the destination. */
export interface LaneSituation {
  readonly isEnabled: boolean
  readonly isThrottled: boolean
  readonly outage: Pick<OutageReading, 'state' | 'nextProbe'>
  readonly failing: Failing | undefined
  /** Time of the next retry by the monotonic clock; undefined if there is none. */
  readonly nextRetry: number | undefined
  /** Converts a monotonic time to milliseconds since 1970. */
  readonly wallTime: (monotonic: number) => number
}

/** Why every event of a destination waits; undefined if they do not. */
export function laneWait({
  isEnabled,
  isThrottled,
  outage,
  failing,
  nextRetry,
  wallTime,
}: LaneSituation): Waiting | undefined {
  if (!isEnabled) return { ...NO_FACTS, cause: 'destination_off' }
  if (outage.state !== 'ok') {
    const cause = outage.state === 'unauthorised' ? 'credentials_refused' : 'destination_failing'
    return { ...NO_FACTS, cause, ...failingFacts(failing), nextAttemptAt: time(wallTime(outage.nextProbe)) }
  }
  if (failing !== undefined) {
    const nextAttemptAt = nextRetry === undefined ? null : time(wallTime(nextRetry))
    return { ...NO_FACTS, cause: 'destination_failing', ...failingFacts(failing), nextAttemptAt }
  }
  return isThrottled ? { ...NO_FACTS, cause: 'rate_limit' } : undefined
}

/**
 * Why one event waits. Callers that can read payloads add `blockedBy`.
 *
 * @param event undefined: it is still in the log.
 * @param isHeld its connection is disabled.
 */
export function eventWait(event: LaneEvent | undefined, isHeld: boolean, situation: LaneSituation): Waiting {
  const { state, history } = event ?? NOT_TAKEN_UP
  if (state === 'sending') return { ...NO_FACTS, cause: 'sending' }
  const ofLane = laneWait(situation)
  if (ofLane?.cause === 'destination_off') return ofLane
  if (isHeld) return { ...NO_FACTS, cause: 'connection_off' }
  const due = state === 'retrying' ? history?.due : undefined
  const dueAt = due === undefined ? null : time(situation.wallTime(due))
  if (ofLane !== undefined && ofLane.cause !== 'rate_limit') {
    // With a closed breaker each event has its own due time, and a ready event is sent at once.
    const isProbed = situation.outage.state !== 'ok' || state === 'blocked'
    return isProbed ? ofLane : { ...ofLane, nextAttemptAt: dueAt }
  }
  if (state === 'retrying') return { ...NO_FACTS, cause: 'retry', ...history?.lastFailed, nextAttemptAt: dueAt }
  if (state === 'blocked') return { ...NO_FACTS, cause: 'order' }
  return ofLane ?? { ...NO_FACTS, cause: 'turn' }
}

const NOT_TAKEN_UP: Pick<LaneEvent, 'state' | 'history'> = { state: 'ready', history: undefined }
const NO_FACTS = { status: null, noAnswer: null, since: null, nextAttemptAt: null, blockedBy: null }

function failingFacts(failing: Failing | undefined): Pick<Waiting, 'status' | 'noAnswer' | 'since'> {
  if (failing === undefined) return NO_FACTS
  return { ...failing.last, since: time(failing.since) }
}

/** The text of a recorded call without answer, such as `[ECONNREFUSED] :: Connection refused`; null for an answer. */
export function noAnswerText(text: string): string | null {
  return /^\[E[A-Z0-9_]+\] :: (.+)$/s.exec(text)?.[1] ?? null
}

function time(ms: number): string {
  return new Date(Math.round(ms)).toISOString()
}
