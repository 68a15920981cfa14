const KEY = 'millrace.session'

/**
 * The half of the session that a page keeps itself; the other is a cookie that no script can read, and only both together
 * count. Every tab of this origin reads the same half.
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
 * The server no longer takes this half, or the person signed out.
 *
 * @param half the one that was used: another one is of a sign-in since then, and stays.
 */
export function endSession(half: string): void {
  if (sessionHalf() !== half) return
  localStorage.removeItem(KEY)
  tell()
}

/** Calls back whenever the half came or went, in this tab or another; ends with the returned function. */
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
