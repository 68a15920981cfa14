import type { Stats } from '@millrace/api-types'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { askedFrom, movedOn } from './moving-stats.ts'
import { api } from './requests/client.ts'
import { onceShown } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'
import { serverNow } from './requests/server-clock.ts'

export interface StatsAsked {
  /** Length of the range; at most 360 steps. */
  readonly seconds: number
  /** Steps of 10 s are stored for an hour, steps of 300 s for seven days. */
  readonly step: 10 | 300
  readonly sourceId?: string
  readonly destinationId?: string
  readonly transformationId?: string
  readonly by?: 'reason'
  /** Includes the unfinished step, whose counts still grow: rates exclude it. */
  readonly hasCurrentStep?: boolean
}

/**
 * Counts per step up to now. They are read again every `pollMs` with a new `to`; earlier figures stay visible. Only the
 * newest steps are requested: an hour of thousands of nodes would be megabytes.
 */
export function useStats(asked: StatsAsked, options: { pollMs?: number; isEnabled?: boolean } = {}) {
  return useQuery({
    ...readingStats(asked),
    enabled: options.isEnabled ?? true,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}

export function readingStats(asked: StatsAsked) {
  const { seconds, step, hasCurrentStep = false, ...query } = asked
  return queryOptions({
    queryKey: ['/v2/stats', asked],
    queryFn: async (context): Promise<Stats> => {
      await onceShown(context)
      const { client, queryKey, signal } = context
      const steps = serverNow() / (step * 1000)
      const to = (hasCurrentStep ? Math.ceil(steps) : Math.floor(steps)) * step * 1000
      const from = to - seconds * 1000
      // Reasons are counted over the whole range.
      const known = query.by === undefined ? client.getQueryData<Stats>(queryKey) : undefined
      const missing = askedFrom({ from, to }, known)
      const range = { from: new Date(missing).toISOString(), to: new Date(to).toISOString() }
      const { body } = await api<Stats>('GET', '/v2/stats', { query: { ...range, step, ...query }, signal })
      return known === undefined || missing === from ? body : movedOn(known, body, from)
    },
    // The times change with each answer, so comparing it with the last one is slow and useless.
    structuralSharing: false,
  })
}
