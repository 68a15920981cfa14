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

/** `17:43 UTC` today, else with the date. */
function utcClock(at: Date, now: number): string {
  const [text, today] = [formatTime(at.getTime()), formatTime(now)]
  const clock = `${text.slice(11, 16)} UTC`
  return text.slice(0, 10) === today.slice(0, 10) ? clock : `${text.slice(0, 10)} ${clock}`
}
