/** Time as an argument. */
export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number
  /** Milliseconds since some moment of this process; never jumps, never negative. Waits are measured by it. */
  monotonic(): number
  /** Calls back once. @returns what cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Resolves after a while. */
export function passed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}
