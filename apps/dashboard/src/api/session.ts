import type { NewSession, Role, Session } from '@millrace/api-types'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api } from './client.ts'
import { reading } from './reading.ts'
import { ROLES } from './role.ts'
import { endSession, keepSessionHalf, sessionHalf, watchSessionHalf } from './session-half.ts'

/** Whether this browser holds a half of a session; it may have ended without our knowing. */
export function useHasSession(): boolean {
  return useSyncExternalStore(watchSessionHalf, () => sessionHalf() !== null)
}

const SESSION = reading<{ session: Session }>('/v2/session')

/** Read again after a minute, when a page that shows it is opened or looked at again. */
export function useSession() {
  const isEnabled = useHasSession()
  return useQuery({ ...SESSION, select: ({ session }) => session, enabled: isEnabled, staleTime: 60_000 })
}

/** What the session may do: the role of its token, never above its user's. Undefined until it is known. */
export function useRole(): Role | undefined {
  const { data } = useSession()
  if (data === undefined) return undefined
  return ROLES[Math.min(ROLES.indexOf(data.token.role), ROLES.indexOf(data.user.role))]
}

/**
 * Begins a session; the token is sent this once and not kept.
 *
 * @throws ApiError of kind `session` for a wrong e-mail or token.
 */
export async function signIn(client: QueryClient, written: { email: string; token: string }): Promise<void> {
  const { body } = await api<{ session: NewSession }>('POST', '/v2/session', { body: written })
  const { half, ...session } = body.session
  const before = client.getQueryData<{ session: Session }>(SESSION.queryKey)?.session
  // Another person must not see what the one before was shown; the same one goes on where they were.
  if (before !== undefined && before.token.id !== session.token.id) client.clear()
  keepSessionHalf(half)
  client.setQueryData(SESSION.queryKey, { session })
  void client.invalidateQueries({ predicate: ({ queryKey: [path] }) => path !== '/v2/session' })
}

/** @throws ApiError when the server could not be told; then the session goes on. */
export async function signOut(client: QueryClient): Promise<void> {
  const half = sessionHalf()
  if (half === null) return
  await api('DELETE', '/v2/session')
  endSession(half)
  client.clear()
}

export function useSignOut() {
  const client = useQueryClient()
  return () => signOut(client)
}
