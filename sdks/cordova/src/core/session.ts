import { parsedJson } from './parsed-json.ts'

/** Kept as JSON under the state key `session`, in the transaction of the event. @see contracts/cordova-sdk.md §12 */
export interface Session {
  /** Whole seconds since 1970 at its start, and greater than that of any session before. */
  readonly id: number
  /** Of its latest event, ms since 1970. */
  readonly lastAt: number
  /** By a reset: the next event starts another. */
  readonly isOver?: true
}

/** The session of an event. `isFirst`: the event starts it. */
export function sessionAt(
  before: Session | undefined,
  at: number,
  timeoutMs: number,
): { session: Session; isFirst: boolean } {
  // A clock that was set back makes the difference negative, and ends nothing.
  if (before && !before.isOver && at - before.lastAt < timeoutMs) {
    return { session: { id: before.id, lastAt: at }, isFirst: false }
  }
  const id = Math.max(Math.floor(at / 1000), (before?.id ?? 0) + 1)
  return { session: { id, lastAt: at }, isFirst: true }
}

export function sessionFrom(text: string | undefined): Session | undefined {
  const session = parsedJson(text)
  return Number.isFinite(session?.id) && Number.isFinite(session?.lastAt) ? session : undefined
}
