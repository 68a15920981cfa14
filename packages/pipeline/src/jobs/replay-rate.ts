import { badRequest } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'

/** Events a second of a replay, unless somebody says otherwise. @see contracts/delivery.md §7 [D621] */
export const STANDARD_RATE = 100
export const MAX_PER_SECOND = 10_000

/**
 * How many events a second a replay is to take up; undefined if it is left out.
 *
 * @throws ApiError 400
 * @see contracts/delivery.md §10; that replays of dead letters have it too: docs/decisions/0067
 */
export function rateIn({ rateEventsPerSecond: rate }: JsonObject): number | undefined {
  if (rate === undefined) return undefined
  const isRate = typeof rate === 'number' && Number.isInteger(rate) && rate > 0 && rate <= MAX_PER_SECOND
  if (!isRate) throw badRequest('Invalid rateEventsPerSecond')
  return rate
}
