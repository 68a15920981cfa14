import { durationText } from './duration.ts'

/**
 * What keeps an event from its outcome. The first that holds, in this order:
 *
 * - `sending`: a call is in flight.
 * - `destination_off`, `connection_off`: a person switched it off.
 * - `credentials_refused`, `destination_failing`: the destination as a whole refuses us, or has answered nothing good.
 * - `retry`: this one event failed, while the destination takes others.
 * - `order`: an earlier event of the same user goes first.
 * - `rate_limit`: the destination's `delivery.throttle` is used up.
 * - `turn`: nothing is in its way.
 */
export type WaitCause =
  | 'sending'
  | 'destination_off'
  | 'connection_off'
  | 'credentials_refused'
  | 'destination_failing'
  | 'retry'
  | 'order'
  | 'rate_limit'
  | 'turn'

/** Why an event waits at a destination, as the API gives it. Times are RFC 3339 in UTC. */
export interface Waiting {
  readonly cause: WaitCause
  /** The last answer, for `credentials_refused`, `destination_failing` and `retry`; null: none came, or it is not known any more. */
  readonly status: number | null
  /** What happened instead of an answer, such as `Connection refused`. */
  readonly noAnswer: string | null
  /** When the destination began to fail. */
  readonly since: string | null
  readonly nextAttemptAt: string | null
  /** messageId of the earlier event of the same user. */
  readonly blockedBy: string | null
}

interface Reader {
  /** Milliseconds since 1970. */
  readonly now: number
  /** A time of day as this reader knows it: `17:43`, `17:43 UTC`. */
  readonly clock: (at: Date) => string
}

/** `Queued: destination answers 503 since 17:43, next attempt in 20 s` */
export function waitingSentence(waiting: Waiting, reader: Reader): string {
  const { cause, blockedBy } = waiting
  if (cause === 'sending') return 'Being sent: the destination has not answered yet'
  if (cause === 'order') return `Queued behind ${blockedBy ?? 'an earlier event'} of the same user`
  const behind = blockedBy === null ? '' : ` behind ${blockedBy} of the same user`
  return `Queued${behind}: ${reasonOf(waiting, reader)}${nextOf(waiting, reader)}`
}

function reasonOf({ cause, status, noAnswer, since, blockedBy }: Waiting, { clock }: Reader): string {
  const sinceText = since === null ? '' : ` since ${clock(new Date(since))}`
  switch (cause) {
    case 'destination_off':
      return 'the destination is off'
    case 'connection_off':
      return 'the connection is off'
    case 'credentials_refused':
      return (noAnswer ?? `destination refuses the credentials (${status})`) + sinceText
    case 'destination_failing':
      return (
        (status === null ? `destination does not answer${bracketed(noAnswer)}` : `destination answers ${status}`) +
        sinceText
      )
    case 'retry': {
      const event = blockedBy === null ? 'this event' : 'it'
      if (status !== null) return `destination answered ${status} to ${event}`
      return noAnswer === null
        ? 'the last attempt failed'
        : `destination did not answer${bracketed(noAnswer)} when it got ${event}`
    }
    case 'rate_limit':
      return "the destination's rate limit is used up"
    default:
      return 'its turn comes next'
  }
}

function nextOf({ nextAttemptAt }: Waiting, { now }: Reader): string {
  if (nextAttemptAt === null) return ''
  const ms = Date.parse(nextAttemptAt) - now
  return ms < 500 ? ', next attempt now' : `, next attempt in ${durationText(Math.ceil(ms / 1000) * 1000)}`
}

function bracketed(text: string | null): string {
  return text === null ? '' : ` (${text})`
}
