import type { ProcessClock } from '../process-clock.ts'

/** This package stands below the one that has the system's clock. */
export const realClock: ProcessClock = {
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    const timeout = setTimeout(callback, delayMs)
    return { cancel: () => clearTimeout(timeout) }
  },
}
