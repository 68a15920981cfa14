import type { QueryClient } from '@tanstack/react-query'
import { readingConnections } from '../../api/connections.ts'
import { readingDeliveryStates, readingDestinations } from '../../api/destinations.ts'
import { readingSources } from '../../api/sources.ts'
import { readingStats } from '../../api/stats.ts'
import { readingTransformations } from '../../api/transformations.ts'

/** What rates are made of: the last five minutes. */
export const RECENT = { seconds: 300, step: 10 } as const

/** What the picture needs, all at once. A failure is met, and shown, by the page. */
export function askForHome(client: QueryClient): void {
  void client.prefetchQuery(readingSources())
  void client.prefetchQuery(readingDestinations())
  void client.prefetchQuery(readingConnections())
  void client.prefetchQuery(readingTransformations())
  void client.prefetchQuery(readingStats(RECENT))
  void client.prefetchQuery(readingDeliveryStates())
}
