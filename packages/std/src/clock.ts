/** Time as an argument: whoever waits or reads the time is given one of these. */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some fixed moment of this process. Never jumps; waits are measured by it. */
  monotonic(): number
  /** Calls back once, after at least `delayMs` by the monotonic clock. */
  setTimer(callback: () => void, delayMs: number): Timer
}

export interface Timer {
  /** Does nothing once it has fired. */
  cancel(): void
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    const timeout = setTimeout(callback, Math.min(delayMs, MAX_TIMEOUT_MS))
    return { cancel: () => clearTimeout(timeout) }
  },
}

// setTimeout fires at once for anything longer.
const MAX_TIMEOUT_MS = 2 ** 31 - 1
