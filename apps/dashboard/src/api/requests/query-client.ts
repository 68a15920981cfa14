import { QueryClient } from '@tanstack/react-query'
import { pollEvery } from './retry.ts'

/**
 * Data stays visible while it is read again, and temporary failures are retried. A hidden tab sends no requests; it
 * reads again when it becomes visible.
 */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The server may run on this machine: the browser's network state says nothing.
        networkMode: 'always',
        staleTime: 2000,
        gcTime: 10 * 60_000,
        retry: false,
        refetchInterval: pollEvery(null),
        refetchIntervalInBackground: false,
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}
