import type { NewSession, Role, Session } from '@millrace/api-types'
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api } from '../requests/client.ts'
import { reading } from '../requests/reading.ts'
import { ROLES } from './role.ts'
import { endSession, keepSessionHalf, sessionHalf, watchSessionHalf } from './session-half.ts'

/** Whether this browser holds a half of a session; the session may have ended. */
export function useHasSession(): boolean {
  return useSyncExternalStore(watchSessionHalf, () => sessionHalf() !== null)
}

const SESSION = reading<{ session: Session }>('/v2/session')

/** Read again after a minute, when a page that shows it is opened or becomes visible. */
export function useSession() {
  const isEnabled = useHasSession()
  return useQuery({ ...SESSION, select: ({ session }) => session, enabled: isEnabled, staleTime: 60_000 })
}

/** The role of the session: the role of its token, never above its user's. Undefined until it is loaded. */
export function useRole(): Role | undefined {
  const { data } = useSession()
  if (data === undefined) return undefined
  return ROLES[Math.min(ROLES.indexOf(data.token.role), ROLES.indexOf(data.user.role))]
}

/**
 * Begins a session; the token is sent once and not stored.
 *
 * @throws ApiError of kind `session` for a wrong e-mail or token.
 */
export async function signIn(client: QueryClient, written: { email: string; token: string }): Promise<void> {
  const { body } = await api<{ session: NewSession }>('POST', '/v2/session', { body: written })
  const { half, ...session } = body.session
  const before = client.getQueryData<{ session: Session }>(SESSION.queryKey)?.session
  // Another token may have another user or role: it starts without the data of the previous one.
  if (before !== undefined && before.token.id !== session.token.id) client.clear()
  keepSessionHalf(half)
  client.setQueryData(SESSION.queryKey, { session })
  void client.invalidateQueries({ predicate: ({ queryKey: [path] }) => path !== '/v2/session' })
}

/** @throws ApiError if the server did not confirm; the session then continues. */
export async function signOut(client: QueryClient): Promise<void> {
  const half = sessionHalf()
  if (half === null) return
  await api('DELETE', '/v2/session')
  endSession(half)
  client.clear()
}

export function useSignOut() {
  const client = useQueryClient()
  return useMutation({ mutationFn: () => signOut(client) })
}
