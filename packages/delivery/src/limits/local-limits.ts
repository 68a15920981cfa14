import { ExactWindow } from '../pace/event-window.ts'
import type { DestinationLimits, LaneLimits, LimitSettings } from './destination-limits.ts'
import { FairShares } from './fair-shares.ts'
import { type LaneMeeting, LaneShare } from './lane-share.ts'
import { LimitsState, privateNumbers } from './limits-state.ts'
import type { MakePart, PartOfLimits } from './process-part.ts'

/** The limits of a destination whose lanes of this process are all in this thread. */
export class LocalDestinationLimits implements DestinationLimits {
  readonly #state: LimitsState
  readonly #shares = { calls: new FairShares(), replays: new FairShares(), places: new FairShares() }
  #woken = 0
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

  /** @param makePart where other processes have lanes of the destination, too. */
  constructor(makePart?: MakePart) {
    const failures = { last: undefined, failing: undefined }
    const part = makePart?.(this.#partOfLimits())
    this.#state = new LimitsState({ ...privateNumbers(), ...this.#shares, window: new ExactWindow(), failures, part })
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

  #partOfLimits(): PartOfLimits {
    const wake = () => {
      // Each time another lane is the first to take what has come.
      const first = this.#woken++ % Math.max(1, this.#lanes.length)
      for (const lane of [...this.#lanes.slice(first), ...this.#lanes.slice(0, first)]) lane?.ring()
    }
    return {
      wake,
      adopt: (outage) => {
        if (this.#state.outage.adopt(outage)) wake()
      },
      shareChanged: () => {
        this.#state.shareChanged()
        wake()
      },
    }
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
