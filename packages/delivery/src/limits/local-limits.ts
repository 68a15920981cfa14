import { ExactWindow } from '../pace/event-window.ts'
import type { DestinationLimits, LaneLimits, LimitSettings } from './destination-limits.ts'
import { FairShares } from './fair-shares.ts'
import { type LaneMeeting, LaneShare } from './lane-share.ts'
import { LimitsState, privateNumbers } from './limits-state.ts'

/** The limits of a destination whose lanes are all in this thread. */
export class LocalDestinationLimits implements DestinationLimits {
  readonly #state: LimitsState
  readonly #shares = { calls: new FairShares(), replays: new FairShares(), places: new FairShares() }
  /** By lane; undefined once it has closed. */
  readonly #lanes: (LaneWake | undefined)[] = []
  readonly #meeting: LaneMeeting = {
    enter: () => {},
    leave: () => {},
    wake: (lane) => this.#lanes[lane]?.ring(),
    wakeOthers: (lane) => {
      for (const [other, wake] of this.#lanes.entries()) if (other !== lane) wake?.ring()
    },
    listen: () => {},
    closed: (lane) => {
      this.#lanes[lane]?.close()
      this.#lanes[lane] = undefined
    },
  }

  constructor() {
    const failures = { last: undefined, failing: undefined }
    this.#state = new LimitsState({ ...privateNumbers(), ...this.#shares, window: new ExactWindow(), failures })
    this.#state.begin()
  }

  join(settings: LimitSettings, wake: () => void, now: number): LaneLimits {
    const free = this.#lanes.indexOf(undefined)
    const lane = free === -1 ? this.#lanes.length : free
    this.#lanes[lane] = new LaneWake(wake)
    for (const shares of Object.values(this.#shares)) shares.makeRoomFor(lane)
    const limits = new LaneShare(this.#state, this.#meeting, lane)
    limits.configure(settings, now)
    return limits
  }
}

/** Wakes a lane once, after the work at hand, however often it rings until then. */
class LaneWake {
  readonly #wake: () => void
  #isRinging = false
  #isClosed = false

  constructor(wake: () => void) {
    this.#wake = wake
  }

  ring(): void {
    if (this.#isRinging) return
    this.#isRinging = true
    queueMicrotask(() => {
      this.#isRinging = false
      if (!this.#isClosed) this.#wake()
    })
  }

  close(): void {
    this.#isClosed = true
  }
}
