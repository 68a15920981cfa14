import { QueryClient } from '@tanstack/react-query'
import { pollEvery } from './retry.ts'

/**
 * What was read stays shown while it is read again, and failures that pass are tried again by themselves. Nothing is asked
 * for from a hidden tab; shown again it catches up.
 */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The server may be on this very machine: what the browser knows of the network says nothing.
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
