import type { StateChanges } from '../core/bridge.ts'
import { parsedJson } from '../core/text/parsed-json.ts'

const MAX_PER_HOUR = 20
const HOUR_MS = 3_600_000

/**
 * Bounds what a broken proxy that refuses everything can cost. Kept over restarts under the key `refusals`.
 *
 * @returns what to write together with the next deletion; undefined when there may be none.
 */
export function refusalsAfter(text: string | undefined, now: number): StateChanges | undefined {
  const times = parsedJson(text)
  // A time ahead of now is of a clock that was wrong.
  const recent = Array.isArray(times) ? times.filter((at) => at > now - HOUR_MS && at <= now) : []
  return recent.length < MAX_PER_HOUR ? { refusals: JSON.stringify([...recent, now]) } : undefined
}
