import type { Role, User, UserWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { readingAll, readingOne, useWriting } from './requests/reading.ts'

const USERS = '/v2/users'
const pathOf = (id: string) => `${USERS}/${encodeURIComponent(id)}`

/** For admins. */
export function useUsers(options: { isEnabled?: boolean } = {}) {
  return useQuery({ ...readingAll<User>(USERS, 'users'), enabled: options.isEnabled ?? true })
}

/** The answer contains `token` only this once. */
export function useCreateUser() {
  return useWriting(
    (body: UserWritten) => api<{ user: User; token: string }>('POST', USERS, { body }),
    [USERS, '/v2/access-tokens'],
  )
}

export function useChangeUser() {
  return useWriting(
    ({ id, etag, ...body }: { id: string; etag: string | null; email?: string; role?: Role }) =>
      api<{ user: User }>('PATCH', pathOf(id), { body, etag }),
    [USERS],
  )
}

export function useDeleteUser() {
  return useWriting(
    ({ id, etag }: { id: string; etag: string | null }) => api<null>('DELETE', pathOf(id), { etag }),
    [USERS, '/v2/access-tokens'],
  )
}

/** The current ETag of a user: lists have none. */
export async function userTag(id: string): Promise<string | null> {
  return (await api<{ user: User }>('GET', pathOf(id))).etag
}

/** The ETag of a user when a form opens, to detect a concurrent change. */
export function useUserTag(id: string) {
  return useQuery({ ...readingOne<{ user: User }>(pathOf(id)), select: ({ etag }) => etag, staleTime: 0 })
}
