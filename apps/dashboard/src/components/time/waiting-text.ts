import { type Waiting, waitingSentence } from '@millrace/wording'
import { localTime } from './time-text.ts'

/** Why an event waits, with times in the reader's time zone. @param now of the server, ms since 1970. */
export function waitingText(waiting: Waiting, now: number): string {
  return waitingSentence(waiting, { now, clock: (at) => localTime(at, new Date(now), 'minute') })
}
