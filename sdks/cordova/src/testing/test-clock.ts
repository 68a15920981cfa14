import type { Clock } from '../core/clock.ts'

const START = Date.parse('2026-11-20T09:30:00.000Z')

/** Time that goes on when it is told to. */
export class TestClock implements Clock {
  private wall: number
  private elapsed = 0
  private timers: { readonly at: number; readonly callback: () => void }[] = []

  constructor(wall = START) {
    this.wall = wall
  }

  now(): number {
    return this.wall
  }

  monotonic(): number {
    return this.elapsed
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.elapsed + delayMs, callback }
    this.timers.push(timer)
    return () => {
      this.timers = this.timers.filter((each) => each !== timer)
    }
  }

  /** Calls back what is due, in its order, each at its time. */
  advance(ms: number): void {
    const until = this.elapsed + ms
    for (;;) {
      const due = this.timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0]
      if (!due) break
      this.timers = this.timers.filter((each) => each !== due)
      this.pass(Math.max(0, due.at - this.elapsed))
      due.callback()
    }
    this.pass(until - this.elapsed)
  }

  /** Somebody sets the clock; nothing that waits takes notice. */
  setBy(ms: number): void {
    this.wall += ms
  }

  /** Timers of a process that has ended. */
  forgetTimers(): void {
    this.timers = []
  }

  private pass(ms: number): void {
    this.elapsed += ms
    this.wall += ms
  }
}
