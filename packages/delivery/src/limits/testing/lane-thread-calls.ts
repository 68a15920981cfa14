import type { LimitSettings } from '../destination-limits.ts'

/** What a thread under test is made with. */
export interface LaneThreadData {
  readonly limits: SharedArrayBuffer
  /** Its number. */
  readonly thread: number
  readonly settings: LimitSettings
  /** See `SharedFacts`. */
  readonly facts: SharedArrayBuffer
}

/** The same, of a thread that only takes and returns. */
export interface HammerData {
  readonly rounds: number
  /** Threads that begin at the same time. */
  readonly team: number
}

/** What a thread under test does. */
export type LaneThreadCalls = {
  /** Gives the lane more events. */
  add: (events: number) => void
  /** Runs what is due at the shared time. */
  run: () => Promise<Turn>
  report: () => Report
}

export interface Turn {
  /** When the lane has something to do next; Infinity: when it is woken. */
  readonly next: number
  /** Timers that rang and calls that began in this turn. */
  readonly actions: number
}

export interface Report {
  /** When its calls began. */
  readonly sentAt: readonly number[]
  readonly delivered: number
}

/** Time, the destination's behaviour, and its calls in flight: shared by all threads of a test. */
export class SharedFacts {
  readonly memory: SharedArrayBuffer
  readonly #floats: Float64Array
  readonly #ints: Int32Array

  constructor(memory = new SharedArrayBuffer(64)) {
    this.memory = memory
    this.#floats = new Float64Array(memory, 0, 1)
    this.#ints = new Int32Array(memory, 8)
  }

  /** The monotonic time of all threads. */
  get time(): number {
    return this.#floats[0]!
  }

  set time(time: number) {
    this.#floats[0] = time
  }

  get isDead(): boolean {
    return Atomics.load(this.#ints, 0) === 1
  }

  set isDead(isDead: boolean) {
    Atomics.store(this.#ints, 0, isDead ? 1 : 0)
  }

  /** Calls that have begun. */
  get calls(): number {
    return Atomics.load(this.#ints, 1)
  }

  /** The most calls that were in flight at once. */
  get mostInFlight(): number {
    return Atomics.load(this.#ints, 3)
  }

  forgetMost(): void {
    Atomics.store(this.#ints, 3, 0)
  }

  /** Waits until so many threads have called it. */
  join(team: number): void {
    const joined = Atomics.add(this.#ints, 4, 1) + 1
    Atomics.notify(this.#ints, 4)
    for (let seen = joined; seen < team; seen = Atomics.load(this.#ints, 4)) Atomics.wait(this.#ints, 4, seen)
  }

  began(): void {
    Atomics.add(this.#ints, 1, 1)
    const inFlight = Atomics.add(this.#ints, 2, 1) + 1
    for (let most = this.mostInFlight; most < inFlight; most = this.mostInFlight) {
      Atomics.compareExchange(this.#ints, 3, most, inFlight)
    }
  }

  ended(calls = 1): void {
    Atomics.sub(this.#ints, 2, calls)
  }
}
