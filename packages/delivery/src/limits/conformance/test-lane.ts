import { expect } from 'vitest'
import type { AttemptNote, DestinationLimits, LaneLimits, LimitSettings } from '../destination-limits.ts'

const AFTER_A_TURN_MS = 10

export const DELIVERED: AttemptNote = { sign: 'good', isDelivered: true, overloadedSince: undefined }
export const FAILED: AttemptNote = { sign: 'failed', isDelivered: false, overloadedSince: undefined }
export const REFUSED: AttemptNote = { sign: 'refused', isDelivered: false, overloadedSince: undefined }
export const UNAUTHORISED: AttemptNote = { sign: 'unauthorised', isDelivered: false, overloadedSince: undefined }

/** Makes the limits of a new destination. The result gives lane `n`, from 0 to 5, the limits that it joins. */
export type OpenLimits = () => (lane: number) => DestinationLimits

/** Lanes of one new destination. */
export function lanesOf(open: OpenLimits, count: number, settings: Partial<LimitSettings> = {}): TestLane[] {
  const limits = open()
  const all = { concurrency: 100, throttle: null, revision: 1, ...settings }
  return Array.from({ length: count }, (_, lane) => new TestLane(limits(lane), all))
}

/** One lane of a destination; it only knows what the limits tell it. */
export class TestLane {
  readonly limits: LaneLimits
  /** How often it was woken. */
  wakes = 0
  calls = 0
  #now = 0
  #seen = 0
  #onWake: () => void = () => {}

  constructor(limits: DestinationLimits, settings: LimitSettings) {
    const wake = () => {
      this.wakes++
      this.#onWake()
    }
    this.limits = limits.join(settings, wake, 0)
  }

  /** Resolves once the lane has been woken since the last call. */
  async woken(): Promise<void> {
    while (this.wakes === this.#seen) {
      await new Promise<void>((resolve) => {
        this.#onWake = resolve
      })
    }
    this.#seen = this.wakes
  }

  take(isReplay = false): boolean {
    const isTaken = this.limits.takeCall(isReplay)
    if (isTaken) this.calls++
    return isTaken
  }

  /** Takes calls until it is refused. @returns how many it got. */
  takeAll(isReplay = false): number {
    let taken = 0
    while (this.take(isReplay)) taken++
    return taken
  }

  end(isReplay = false): void {
    this.calls--
    this.limits.returnCall(isReplay)
  }

  /** Takes from the throttle until it is refused. @returns how many events may be sent. */
  takeThrottled(now: number, isReplay = false): number {
    let taken = 0
    while (this.limits.takeThrottle(isReplay, now) === 0) taken++
    return taken
  }

  /** A call ends some time after the last one, and the lane wants the next one. */
  next(): boolean {
    this.#now += AFTER_A_TURN_MS
    return this.nextAt(this.#now)
  }

  nextAt(now: number): boolean {
    const isTaken = this.limits.exchangeCall(false, false, now)
    if (!isTaken) this.calls--
    return isTaken
  }

  /** So many attempts with the same result, one after the other. */
  attempt(note: AttemptNote, times: number, now = 0): void {
    for (let i = 0; i < times; i++) {
      expect(this.take()).toBe(true)
      this.limits.note(note, now)
      this.end()
    }
  }
}
