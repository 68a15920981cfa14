import type { Source } from '@millrace/api-types'
import { useQueries } from '@tanstack/react-query'
import { pollEvery } from './requests/retry.ts'
import { readingEventModels } from './schemas.ts'

const MAX_SOURCES = 5

/** The number of events that the catalog has counted, by source id; for the first few sources. */
export function useStoredEvents(
  sources: readonly Pick<Source, 'id' | 'writeKey'>[],
  pollMs: number,
): ReadonlyMap<string, number> {
  const asked = sources.slice(0, MAX_SOURCES)
  return useQueries({
    queries: asked.map(({ writeKey }) => ({ ...readingEventModels({ writeKey }), refetchInterval: pollEvery(pollMs) })),
    combine: (results) =>
      new Map(
        results.flatMap(({ data }, at) =>
          data === undefined
            ? []
            : [[asked[at]!.id, data.reduce((sum, { TotalCount }) => sum + TotalCount, 0)] as const],
        ),
      ),
  })
}
