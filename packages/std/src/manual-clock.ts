import type { Clock, Timer } from './clock.ts'

/**
 * A clock that stands until it is told to go on: hours pass in a test without waiting. Timers fire in order of their
 * due times, and each sees the clock at its own due time.
 */
export class ManualClock implements Clock {
  #wall: number
  #monotonic = 0
  #timers = new Set<{ due: number; callback: () => void }>()

  constructor(startMs: number) {
    this.#wall = startMs
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer = { due: this.#monotonic + Math.max(0, delayMs), callback }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer) }
  }

  /** Lets time pass; between two timers, work that they started runs on until `settle` resolves. */
  async advance(ms: number, settle: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    const end = this.#monotonic + ms
    for (;;) {
      await settle()
      const next = [...this.#timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0]
      if (next === undefined) break
      this.#timers.delete(next)
      this.#moveTo(Math.max(next.due, this.#monotonic))
      next.callback()
    }
    this.#moveTo(end)
    await settle()
  }

  /** Sets the wall clock as a person or a time server would; monotonic time does not notice. */
  jump(ms: number): void {
    this.#wall += ms
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }
}
