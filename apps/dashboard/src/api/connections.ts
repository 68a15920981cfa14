import type { Connection, ConnectionRules, ConnectionWritten, RuleCount } from '@millrace/api-types'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { readingAll, readingOne, type Tagged, useWriting } from './requests/reading.ts'

const CONNECTIONS = '/v2/connections'
const pathOf = (id: string) => `${CONNECTIONS}/${encodeURIComponent(id)}`

/** All connections, ordered by creation. */
export const readingConnections = () => readingAll<Connection>(CONNECTIONS, 'connections')
export const useConnections = () => useQuery(readingConnections())

export function useConnection(id: string) {
  return useQuery({
    ...readingOne<{ connection: Connection }>(pathOf(id)),
    select: ({ connection, etag }): Tagged<Connection> => ({ ...connection, etag }),
  })
}

export function useCreateConnection() {
  return useWriting(
    (body: ConnectionWritten) => api<{ connection: Connection }>('POST', CONNECTIONS, { body }),
    [CONNECTIONS],
  )
}

export function useChangeConnection() {
  return useWriting(
    ({ id, etag, ...changes }: { id: string; etag: string | null } & Partial<ConnectionWritten>) =>
      api<{ connection: Connection }>('PATCH', pathOf(id), { body: changes, etag }),
    [CONNECTIONS],
  )
}

interface Counted {
  readonly sourceId: string
  /** Null: no rules. */
  readonly rules: ConnectionRules | null
  readonly from: string
  readonly to: string
}

/** What rules would have decided about stored events: a question, though it is a POST. */
export const countingByRules = (counted: Counted) =>
  queryOptions({
    queryKey: [`${CONNECTIONS}/rule-count`, counted],
    queryFn: async ({ signal }) =>
      (await api<RuleCount>('POST', `${CONNECTIONS}/rule-count`, { body: counted, signal })).body,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Switches a connection on or off in a list: lists have no ETags. */
export function useSwitchConnection() {
  return useWriting(
    async ({ id, enabled }: { id: string; enabled: boolean }) =>
      api<{ connection: Connection }>('PATCH', pathOf(id), { body: { enabled }, etag: await connectionTag(id) }),
    [CONNECTIONS],
  )
}

/** Answers 409 `Events are waiting` unless `discard`. */
export function useDeleteConnection() {
  return useWriting(
    ({ id, etag, discard }: { id: string; etag: string | null; discard?: boolean }) =>
      api<null>('DELETE', pathOf(id), { query: { discard }, etag }),
    [CONNECTIONS, '/v2/delivery'],
  )
}

/** The current ETag of a connection: lists have none. */
export async function connectionTag(id: string): Promise<string | null> {
  return (await api<{ connection: Connection }>('GET', pathOf(id))).etag
}
