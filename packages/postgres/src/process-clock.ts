/** The part of a clock that this package needs; `Clock` of @millrace/std is one. */
export interface ProcessClock {
  /** Milliseconds since a fixed moment of this process; never jumps. */
  monotonic(): number
  setTimer(callback: () => void, delayMs: number): { cancel(): void }
}
