import type { Connection, ConnectionWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { readingAll, useWriting } from './reading.ts'

const CONNECTIONS = '/v2/connections'
const pathOf = (id: string) => `${CONNECTIONS}/${encodeURIComponent(id)}`

/** All connections, ordered by creation. */
export const readingConnections = () => readingAll<Connection>(CONNECTIONS, 'connections')
export const useConnections = () => useQuery(readingConnections())

export function useCreateConnection() {
  return useWriting(
    (body: ConnectionWritten) => api<{ connection: Connection }>('POST', CONNECTIONS, { body }),
    [CONNECTIONS],
  )
}

export function useChangeConnection() {
  return useWriting(
    ({ id, etag, enabled }: { id: string; etag: string | null; enabled: boolean }) =>
      api<{ connection: Connection }>('PATCH', pathOf(id), { body: { enabled }, etag }),
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
