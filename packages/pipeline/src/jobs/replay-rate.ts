import { badRequest } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'

/** Default rate of a replay, in events per second. @see contracts/delivery.md §7 [D621] */
export const STANDARD_RATE = 100
/** Of one replay, over all its destinations. */
export const MAX_PER_SECOND = 10_000

/**
 * Reads the rate of a replay in events per second; undefined if absent.
 *
 * @throws ApiError 400
 * @see contracts/delivery.md §10; for replays of dead letters: docs/decisions/0067
 */
export function rateIn({ rateEventsPerSecond: rate }: JsonObject): number | undefined {
  if (rate === undefined) return undefined
  const isRate = typeof rate === 'number' && Number.isInteger(rate) && rate > 0 && rate <= MAX_PER_SECOND
  if (!isRate) throw badRequest('Invalid rateEventsPerSecond')
  return rate
}
