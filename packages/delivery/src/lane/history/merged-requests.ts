import { addAttempt } from './delivery-history.ts'
import type { RequestHistory } from './request-history.ts'

/**
 * Merges the attempts of an event over its replays: the latest replay's attempts come last, numbered consecutively. Each
 * request keeps its first 5 and last 15 attempts, and shows its latest form.
 */
export function mergedRequests(
  before: readonly RequestHistory[] | null,
  after: readonly RequestHistory[] | null,
): RequestHistory[] | null {
  if (before === null || after === null) return [...(before ?? after ?? [])]
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => {
    const [earlier, later] = [before[i], after[i]]
    if (earlier === undefined || later === undefined) return (earlier ?? later)!
    const attempts = [...earlier.attempts]
    const made = attempts.at(-1)?.n ?? 0
    for (const attempt of later.attempts) addAttempt(attempts, { ...attempt, n: made + attempt.n })
    return { ...later, attempts }
  })
}
