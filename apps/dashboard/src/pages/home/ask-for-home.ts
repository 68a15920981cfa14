import type { QueryClient } from '@tanstack/react-query'
import { readingConnections } from '../../api/connections.ts'
import { readingDeliveryStates, readingDestinations } from '../../api/destinations.ts'
import { readingSources } from '../../api/sources.ts'
import { readingStats } from '../../api/stats.ts'
import { readingTransformations } from '../../api/transformations.ts'

/** Rates use the last five minutes. */
export const RECENT = { seconds: 300, step: 10 } as const

/** Starts all requests of the picture at once. The page handles and shows failures. */
export function askForHome(client: QueryClient): void {
  void client.prefetchQuery(readingSources())
  void client.prefetchQuery(readingDestinations())
  void client.prefetchQuery(readingConnections())
  void client.prefetchQuery(readingTransformations())
  void client.prefetchQuery(readingStats(RECENT))
  void client.prefetchQuery(readingDeliveryStates())
}
