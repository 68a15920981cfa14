import { parsedObject } from './text/parsed-json.ts'

/** Kept as JSON under the state key `session`, in the transaction of the event. @see contracts/cordova-sdk.md §12 */
export interface Session {
  /** Whole seconds since 1970 at its start, and greater than that of any session before. */
  readonly id: number
  /** Of its latest event, ms since 1970. */
  readonly lastAt: number
  /** By a reset: the next event starts another. */
  readonly isOver?: boolean
}

/** The session of an event: another one than `before` when the event starts it. */
export function sessionAt(before: Session | undefined, at: number, timeoutMs: number): Session {
  const { id = 0, lastAt = 0, isOver = !before } = before || {}
  // A clock that was set back makes the difference negative, and ends nothing.
  const goesOn = !isOver && at - lastAt < timeoutMs
  return { id: goesOn ? id : Math.max(Math.floor(at / 1000), id + 1), lastAt: at }
}

export function sessionFrom(text: string | null | undefined): Session | undefined {
  const session = parsedObject(text)
  return session['id'] >= 0 && session['lastAt'] >= 0 ? (session as Session) : undefined
}
