const KEY = 'millrace.session'

/**
 * The half of the session that the page stores; the other half is a cookie that scripts cannot read, and a session
 * needs both. Every tab of this origin reads the same half.
 *
 * @see contracts/dashboard.md §3 "Session" [U5]
 */
export function sessionHalf(): string | null {
  return localStorage.getItem(KEY)
}

export function keepSessionHalf(half: string): void {
  localStorage.setItem(KEY, half)
  tell()
}

/**
 * Deletes the half after the server rejected it, or the user signed out.
 *
 * @param half the rejected one: a half of a newer sign-in stays.
 */
export function endSession(half: string): void {
  if (sessionHalf() !== half) return
  localStorage.removeItem(KEY)
  tell()
}

/**
 * Calls back when the half was stored or deleted, in this tab or another; the returned function removes the listener.
 */
export function watchSessionHalf(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === KEY || key === null) listener()
  }
  listeners.add(listener)
  window.addEventListener('storage', onStorage)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', onStorage)
  }
}

const listeners = new Set<() => void>()

function tell(): void {
  for (const listener of listeners) listener()
}
