import type { OutageReading, OutageState } from '../failure/outage.ts'
import type { Failing } from '../lane/attempts/wait-cause.ts'
import type { AttemptNote, LaneLimits, LastFailure, LimitSettings } from './destination-limits.ts'
import type { FairShares } from './fair-shares.ts'
import type { LimitsState } from './limits-state.ts'

/** How lanes keep out of each other's way, and wake each other. */
export interface LaneMeeting {
  /** From here to `leave`, no other lane reads or changes the state. */
  enter(): void
  leave(): void
  /** Wakes a lane after `leave`. */
  wake(lane: number): void
  /** Wakes all lanes but one. */
  wakeOthers(lane: number): void
  /** From now on `lane` is woken; it was refused. Called between `enter` and `leave`. */
  listen(lane: number): void
  /** The lane has closed. */
  closed(lane: number): void
}

/** While others wait, a lane passes its calls on this often: to wake another thread costs about as much as a delivery. */
const TURN_MS = 5

/** The limits of a destination, as one lane uses them. */
export class LaneShare implements LaneLimits {
  readonly #state: LimitsState
  readonly #meeting: LaneMeeting
  readonly #lane: number
  #isProbing = false
  #isClosed = false
  /** Until then it keeps its calls. */
  #turnEnds = Number.NEGATIVE_INFINITY
  /** Its turn begins with the next call that ends. */
  #isTurnNew = false
  /** Where the lane waits for its turn. */
  #waitsIn: 'calls' | 'replays' | 'throttle' | undefined

  constructor(state: LimitsState, meeting: LaneMeeting, lane: number) {
    this.#state = state
    this.#meeting = meeting
    this.#lane = lane
  }

  configure(settings: LimitSettings, now: number): void {
    this.#alone(() => {
      this.#state.configure(settings, now)
      this.#wakeForCalls()
    })
  }

  setEnabled(isEnabled: boolean, now: number): void {
    this.#alone(() => this.#state.setEnabled(isEnabled, now))
  }

  // Calls

  get concurrency(): number {
    return this.#state.level.current
  }

  takeCall(isReplay: boolean): boolean {
    if (this.#isClosed) return false
    this.#meeting.enter()
    const isTaken = this.#takeCall(isReplay)
    this.#meeting.leave()
    return isTaken
  }

  exchangeCall(wasReplay: boolean, isReplay: boolean, now: number): boolean {
    if (this.#isClosed) return false
    this.#meeting.enter()
    if (this.#isTurnNew) this.#turnEnds = now + TURN_MS
    this.#isTurnNew = false
    const isItsTurn = now < this.#turnEnds && wasReplay === isReplay
    this.#giveBack(wasReplay)
    const isTaken = this.#takeCall(isReplay, isItsTurn)
    if (isTaken && now >= this.#turnEnds) this.#turnEnds = now + TURN_MS
    if (!isTaken) this.#wakeAfterReturn()
    this.#meeting.leave()
    return isTaken
  }

  returnCall(wasReplay: boolean): void {
    if (this.#isClosed) return
    this.#meeting.enter()
    this.#giveBack(wasReplay)
    this.#wakeAfterReturn()
    this.#meeting.leave()
  }

  /** @param isItsTurn its call takes the place of one that has just ended. */
  #takeCall(isReplay: boolean, isItsTurn = false): boolean {
    const { calls, replays, outage, level } = this.#state
    if (outage.state !== 'ok') {
      this.#waitIn(undefined)
      this.#meeting.listen(this.#lane)
      return false
    }
    if (isReplay && !replays.mayTake(this.#lane, this.#replayed(level.current), isItsTurn)) {
      this.#waitIn('replays')
      return false
    }
    if (!calls.mayTake(this.#lane, level.current, isItsTurn)) {
      this.#waitIn('calls')
      return false
    }
    this.#countCall(isReplay)
    // One lane less waits: the shares of the others have grown.
    if (this.#waitsIn === 'calls' || this.#waitsIn === 'replays') {
      this.#waitsIn = undefined
      if (!isItsTurn) this.#isTurnNew = true
      this.#wakeForCalls()
    }
    return true
  }

  #countCall(isReplay: boolean): void {
    const { calls, replays } = this.#state
    calls.take(this.#lane)
    if (isReplay) replays.take(this.#lane)
  }

  #giveBack(wasReplay: boolean): void {
    const { calls, replays } = this.#state
    calls.giveBack(this.#lane)
    if (wasReplay) replays.giveBack(this.#lane)
  }

  #wakeAfterReturn(): void {
    const { calls, outage } = this.#state
    if (outage.state === 'ok') this.#wakeForCalls()
    // The last call before the outage, or a probe, has ended: another lane may have the next one.
    else if (calls.total === 0) this.#meeting.wakeOthers(this.#lane)
  }

  #wakeForCalls(): void {
    const { calls, replays, level } = this.#state
    if (calls.isAnyWaiting) {
      for (const lane of calls.mayGoOn(this.#lane, level.current)) this.#meeting.wake(lane)
    }
    if (replays.isAnyWaiting) {
      for (const lane of replays.mayGoOn(this.#lane, this.#replayed(level.current))) this.#meeting.wake(lane)
    }
  }

  // Throttle

  takeThrottle(isReplay: boolean, now: number): number {
    if (this.#isClosed) return Number.POSITIVE_INFINITY
    if (!this.#state.hasThrottle) return 0
    this.#meeting.enter()
    const waitMs = this.#takeThrottle(isReplay, now)
    this.#meeting.leave()
    return waitMs
  }

  #takeThrottle(isReplay: boolean, now: number): number {
    const { throttle, part } = this.#state
    if (throttle === undefined) return 0
    const { limit } = throttle.rule
    const untilToken = part?.tokenWaitMs(now) ?? 0
    if (untilToken > 0) {
      this.#waitIn(undefined)
      this.#meeting.listen(this.#lane)
      return untilToken
    }
    const waitMs = throttle.take(now, isReplay ? this.#replayed(limit) : limit, this.#lane)
    if (waitMs > 0) {
      this.#waitIn('throttle')
      return waitMs
    }
    part?.takeToken()
    if (this.#waitsIn === 'throttle') {
      this.#waitsIn = undefined
      this.#wakeForThrottle()
    }
    return 0
  }

  #wakeForThrottle(): void {
    for (const lane of this.#state.throttle?.mayGoOn(this.#lane) ?? []) this.#meeting.wake(lane)
  }

  /** The part of a limit that replays may use; live traffic has the rest. */
  #replayed(limit: number): number {
    return Math.max(1, Math.floor(limit / 2))
  }

  // Waiting

  stopWaiting(): void {
    if (this.#waitsIn !== undefined) this.#alone(() => this.#waitIn(undefined))
  }

  /** A lane waits in one place at a time: it does not hold up others where it cannot go on. */
  #waitIn(place: 'calls' | 'replays' | 'throttle' | undefined): void {
    const before = this.#waitsIn
    this.#waitsIn = place
    if (before !== undefined && before !== place) {
      this.#sharesOf(before).stopWaiting(this.#lane)
      this.#wakeFor(before)
    }
    if (place === undefined) return
    // Of a throttle's window, replays take what live events leave: they do not wait in turn.
    if (place !== 'throttle') this.#sharesOf(place).wait(this.#lane)
    this.#meeting.listen(this.#lane)
    // With one more lane that waits, shares are smaller: a free place may be another lane's now.
    this.#wakeFor(place)
  }

  #wakeFor(place: 'calls' | 'replays' | 'throttle'): void {
    if (place === 'throttle') this.#wakeForThrottle()
    else this.#wakeForCalls()
  }

  #sharesOf(place: 'calls' | 'replays' | 'throttle'): FairShares {
    return place === 'throttle' ? this.#state.places : this.#state[place]
  }

  // Outage

  get outageState(): OutageState {
    return this.#state.outage.state
  }

  get outage(): OutageReading {
    return this.#alone(() => {
      const { state, since, nextProbe, failedProbes } = this.#state.outage
      return { state, since, nextProbe, failedProbes }
    })
  }

  get isProbing(): boolean {
    return this.#isProbing
  }

  probeWaitMs(now: number): number {
    return this.#alone(() => this.#probeWaitMs(now))
  }

  #probeWaitMs(now: number): number {
    const { outage, calls, prober } = this.#state
    if (outage.state === 'ok') return 0
    this.#meeting.listen(this.#lane)
    if (prober !== undefined || calls.total > 0) return Number.POSITIVE_INFINITY
    const waitMs = Math.max(0, outage.nextProbe - now)
    return waitMs > 0 || (this.#state.part?.mayProbe(now) ?? true) ? waitMs : Number.POSITIVE_INFINITY
  }

  takeProbe(isReplay: boolean, now: number): boolean {
    return this.#alone(() => {
      if (this.#isClosed || this.#state.outage.state === 'ok' || this.#probeWaitMs(now) > 0) return false
      this.#state.prober = this.#lane
      this.#isProbing = true
      this.#state.part?.probeTaken()
      this.#countCall(isReplay)
      return true
    })
  }

  endProbe(): void {
    if (!this.#isProbing) return
    this.#alone(() => {
      this.#state.part?.probeEnded()
      this.#endProbe()
    })
  }

  #endProbe(): void {
    if (!this.#isProbing) return
    this.#isProbing = false
    this.#state.prober = undefined
    if (this.#state.calls.total === 0) this.#meeting.wakeOthers(this.#lane)
  }

  note({ sign, isDelivered, overloadedSince }: AttemptNote, now: number): boolean {
    this.#meeting.enter()
    const { failures, level, outage } = this.#state
    const wasProbe = this.#isProbing
    this.#endProbe()
    if (isDelivered && failures.failing !== undefined) failures.failing = undefined
    if (overloadedSince !== undefined) level.overloaded(overloadedSince, now)
    const isChanged = sign !== undefined && outage.note(sign, wasProbe, now)
    this.#state.part?.noted({ sign, wasProbe, isChanged, outage, now })
    const hasGrown = isDelivered && level.delivered()
    if (isChanged) this.#meeting.wakeOthers(this.#lane)
    else if (hasGrown) this.#wakeForCalls()
    this.#meeting.leave()
    return isChanged
  }

  // Figures, and failures for people

  get deliveredEvents(): number {
    return this.#state.deliveredEvents
  }

  countDelivered(): void {
    this.#state.countDelivered()
  }

  noteFailure(failure: LastFailure, failing: Failing | undefined | null): void {
    this.#alone(() => {
      const { failures } = this.#state
      failures.last = failure
      if (failing !== null) failures.failing = failing
    })
  }

  get lastFailure(): LastFailure | undefined {
    return this.#alone(() => this.#state.failures.last)
  }

  get failing(): Failing | undefined {
    return this.#alone(() => this.#state.failures.failing)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#alone(() => {
      this.#state.removeLane(this.#lane)
      this.#waitsIn = undefined
      this.#isProbing = false
      this.#meeting.wakeOthers(this.#lane)
    })
    this.#meeting.closed(this.#lane)
  }

  #alone<T>(work: () => T): T {
    this.#meeting.enter()
    try {
      return work()
    } finally {
      this.#meeting.leave()
    }
  }
}
