import { noAnswerText, type RequestHistory } from '@millrace/delivery'
import { formatTime } from '@millrace/protocol'
import { type Waiting, waitingSentence } from '@millrace/wording'

/** Why an event waits, with the sentence for people; its times are in UTC. */
export interface ToldWaiting extends Waiting {
  readonly sentence: string
}

/** @param now ms since 1970. */
export function toldWaiting(waiting: Waiting, now: number): ToldWaiting {
  return { ...waiting, sentence: waitingSentence(waiting, { now, clock: (at) => utcClock(at, now) }) }
}

/** Why all events of a destination wait, as the processes that own them say; undefined: they do not, or none says. */
export type OwnersWait = (destinationId: string) => Promise<Waiting | undefined>

/** What is stored of an event that waits. */
export interface StoredWait {
  /** ms since 1970 */
  readonly dueAt: number | null
  readonly requests: readonly RequestHistory[] | null
}

/**
 * Why an event waits that is in no lane of this process.
 *
 * @param own as the lane of this process says: only what the configuration shows.
 * @param ofOwners see `OwnersWait`.
 */
export function waitElsewhere(own: Waiting, ofOwners: Waiting | undefined, stored?: StoredWait): Waiting {
  if (own.cause === 'destination_off') return own
  if (ofOwners !== undefined && ofOwners.cause !== 'rate_limit') return ofOwners
  const attempt = stored?.requests?.flatMap(({ attempts }) => attempts).findLast((each) => each.class === 'retry')
  if (attempt === undefined) return ofOwners ?? own
  const noAnswer = noAnswerText(attempt.text)
  const nextAttemptAt = stored?.dueAt == null ? null : formatTime(stored.dueAt)
  const status = noAnswer === null ? attempt.status : null
  return { cause: 'retry', status, noAnswer, since: null, nextAttemptAt, blockedBy: null }
}

/** `17:43 UTC` today, else with the date. */
function utcClock(at: Date, now: number): string {
  const [text, today] = [formatTime(at.getTime()), formatTime(now)]
  const clock = `${text.slice(11, 16)} UTC`
  return text.slice(0, 10) === today.slice(0, 10) ? clock : `${text.slice(0, 10)} ${clock}`
}
