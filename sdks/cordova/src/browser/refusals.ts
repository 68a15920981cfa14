import type { StateChanges } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { parsedJson } from '../core/parsed-json.ts'
import type { EventQueue } from './event-queue.ts'

const MOST_AN_HOUR = 20
const HOUR_MS = 3_600_000

/** Bounds what a broken proxy that refuses everything can cost. Kept over restarts under the key `refusals`. */
export class Refusals {
  private readonly queue: EventQueue
  private readonly clock: Clock

  constructor(queue: EventQueue, clock: Clock) {
    this.queue = queue
    this.clock = clock
  }

  /** @returns what to write together with the next deletion; undefined when there may be none. */
  next(): StateChanges | undefined {
    const now = this.clock.now()
    // A time ahead of now is of a clock that was wrong.
    const recent = timesFrom(this.queue.value('refusals')).filter((at) => at > now - HOUR_MS && at <= now)
    return recent.length >= MOST_AN_HOUR ? undefined : { refusals: JSON.stringify([...recent, now]) }
  }
}

function timesFrom(text: string | undefined): readonly number[] {
  const times = parsedJson(text)
  return Array.isArray(times) ? times.filter(Number.isFinite) : []
}
