import { OUTAGE_CELLS, Outage } from '../failure/outage.ts'
import { ConcurrencyLevel, LEVEL_CELLS } from '../pace/concurrency-level.ts'
import type { EventWindow } from '../pace/event-window.ts'
import { Throttle } from '../pace/throttle.ts'
import { type Cells, privateCells } from './cells.ts'
import type { LimitSettings } from './destination-limits.ts'
import type { Failures } from './failures.ts'
import type { FairShares } from './fair-shares.ts'
import type { ProcessPart } from './process-part.ts'

const [PROBE, DELIVERED, THROTTLE_LIMIT, THROTTLE_SECONDS] = [0, 1, 2, 3] as const
const [REVISION, DISABLED_SINCE] = [0, 1] as const
export const OWN_CELLS = { ints: 4, floats: 2 } as const

/** Where the state of a destination's limits lies. */
export interface LimitsMemory {
  readonly own: Cells
  readonly level: Cells
  readonly outage: Cells
  readonly calls: FairShares
  readonly replays: FairShares
  readonly places: FairShares
  readonly window: EventWindow
  readonly failures: Failures
  /** Where several processes share the destination. */
  readonly part?: ProcessPart | undefined
}

/** Numbers of memory that other parts need too. */
export function privateNumbers(): Pick<LimitsMemory, 'own' | 'level' | 'outage'> {
  return {
    own: privateCells(OWN_CELLS.ints, OWN_CELLS.floats),
    level: privateCells(LEVEL_CELLS.ints, LEVEL_CELLS.floats),
    outage: privateCells(OUTAGE_CELLS.ints, OUTAGE_CELLS.floats),
  }
}

/** The state of a destination's limits. It is the same for all lanes, which change it one at a time. */
export class LimitsState {
  readonly level: ConcurrencyLevel
  readonly outage: Outage
  /** Calls in flight. */
  readonly calls: FairShares
  /** Those among them that carry replayed events. */
  readonly replays: FairShares
  /** Places of the throttle's window. */
  readonly places: FairShares
  readonly failures: Failures
  /** Undefined where one process has the whole destination. */
  readonly part: ProcessPart | undefined
  /** As configured, for all processes. */
  #concurrency = 0
  readonly #ints: Int32Array
  readonly #floats: Float64Array
  readonly #window: EventWindow
  #throttle: Throttle | undefined

  constructor({ own, level, outage, calls, replays, places, window, failures, part }: LimitsMemory) {
    this.#ints = own.ints
    this.#floats = own.floats
    this.level = new ConcurrencyLevel(0, level)
    this.outage = new Outage(outage)
    this.calls = calls
    this.replays = replays
    this.places = places
    this.#window = window
    this.failures = failures
    this.part = part
  }

  /** Call once, for memory that is new. */
  begin(): void {
    this.#floats[REVISION] = Number.NEGATIVE_INFINITY
    this.#floats[DISABLED_SINCE] = Number.NaN
  }

  configure(settings: LimitSettings, now: number): void {
    const { throttle, revision } = settings
    const before = this.#floats[REVISION]!
    if (revision < before) return
    this.#concurrency = settings.concurrency
    this.part?.configured(settings)
    if (before === Number.NEGATIVE_INFINITY) this.level.begin(this.#ownConcurrency)
    else this.level.setHighest(this.#ownConcurrency)
    const { limit, windowSeconds } = throttle ?? { limit: 0, windowSeconds: 0 }
    if (limit !== this.#ints[THROTTLE_LIMIT] || windowSeconds !== this.#ints[THROTTLE_SECONDS]) {
      Atomics.store(this.#ints, THROTTLE_LIMIT, limit)
      this.#ints[THROTTLE_SECONDS] = windowSeconds
      this.#window.reset()
      this.places.reset()
    }
    if (revision > before) this.outage.probeSoon(now)
    this.#floats[REVISION] = revision
  }

  /** The part of this process has another share of the calls. */
  shareChanged(): void {
    if (this.#floats[REVISION] !== Number.NEGATIVE_INFINITY) this.level.setHighest(this.#ownConcurrency)
  }

  get #ownConcurrency(): number {
    return this.part?.concurrencyOf(this.#concurrency) ?? this.#concurrency
  }

  setEnabled(isEnabled: boolean, now: number): void {
    const since = this.#floats[DISABLED_SINCE]!
    if (!isEnabled) {
      if (Number.isNaN(since)) this.#floats[DISABLED_SINCE] = now
    } else if (!Number.isNaN(since)) {
      this.outage.shift(now - since)
      this.#floats[DISABLED_SINCE] = Number.NaN
    }
  }

  get hasThrottle(): boolean {
    return Atomics.load(this.#ints, THROTTLE_LIMIT) !== 0
  }

  /** Undefined if there is none. */
  get throttle(): Throttle | undefined {
    const limit = this.#ints[THROTTLE_LIMIT]!
    if (limit === 0) return undefined
    const windowSeconds = this.#ints[THROTTLE_SECONDS]!
    const known = this.#throttle?.rule
    if (known?.limit !== limit || known.windowSeconds !== windowSeconds) {
      this.#throttle = new Throttle({ limit, windowSeconds }, this.#window, this.places)
    }
    return this.#throttle
  }

  /** The lane that sends the probe. */
  get prober(): number | undefined {
    const lane = this.#ints[PROBE]!
    return lane === 0 ? undefined : lane - 1
  }

  set prober(lane: number | undefined) {
    this.#ints[PROBE] = lane === undefined ? 0 : lane + 1
  }

  get deliveredEvents(): number {
    return Atomics.load(this.#ints, DELIVERED)
  }

  countDelivered(): void {
    Atomics.add(this.#ints, DELIVERED, 1)
  }

  /** The lane is gone: its calls and its probe have ended, and it waits for nothing. */
  removeLane(lane: number): void {
    for (const shares of [this.calls, this.replays]) {
      shares.giveBack(lane, shares.heldBy(lane))
      shares.stopWaiting(lane)
    }
    // The destination has got the events of its places: those leave with the window.
    this.places.stopWaiting(lane)
    if (this.prober !== lane) return
    this.prober = undefined
    this.part?.probeEnded()
  }
}
