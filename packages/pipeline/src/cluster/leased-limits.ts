import type { DestinationLimits, LaneLimits, LimitSettings } from '@millrace/delivery'
import type { Clock, Timer } from '@millrace/std'
import type { ShardLease } from './shard-lease.ts'

/** A lease that was not renewed in time may be renewed at any moment. */
const ASK_AGAIN_MS = 250

/**
 * The limits of a destination for the lanes of one shard: no attempt begins while its lease is in its last quarter.
 *
 * @see contracts/cluster.md §4 [K9]
 */
export function leasedLimits(limits: DestinationLimits, lease: ShardLease, clock: Clock): DestinationLimits {
  return {
    join: (settings, wake, now) => new LeasedLane(limits.join(settings, wake, now), lease, wake, clock),
  }
}

class LeasedLane implements LaneLimits {
  readonly #inner: LaneLimits
  readonly #lease: ShardLease
  readonly #wake: () => void
  readonly #clock: Clock
  #timer: Timer | undefined
  #isClosed = false

  constructor(inner: LaneLimits, lease: ShardLease, wake: () => void, clock: Clock) {
    this.#inner = inner
    this.#lease = lease
    this.#wake = wake
    this.#clock = clock
  }

  takeCall(isReplay: boolean): boolean {
    return this.#mayStart() && this.#inner.takeCall(isReplay)
  }

  exchangeCall(wasReplay: boolean, isReplay: boolean, now: number): boolean {
    if (this.#mayStart()) return this.#inner.exchangeCall(wasReplay, isReplay, now)
    this.#inner.returnCall(wasReplay)
    return false
  }

  takeProbe(isReplay: boolean, now: number): boolean {
    return this.#mayStart() && this.#inner.takeProbe(isReplay, now)
  }

  configure(settings: LimitSettings, now: number): void {
    this.#inner.configure(settings, now)
  }

  setEnabled(isEnabled: boolean, now: number): void {
    this.#inner.setEnabled(isEnabled, now)
  }

  get concurrency(): number {
    return this.#inner.concurrency
  }

  returnCall(wasReplay: boolean): void {
    this.#inner.returnCall(wasReplay)
  }

  takeThrottle(isReplay: boolean, now: number): number {
    return this.#inner.takeThrottle(isReplay, now)
  }

  stopWaiting(): void {
    this.#inner.stopWaiting()
  }

  get outageState(): LaneLimits['outageState'] {
    return this.#inner.outageState
  }

  get outage(): LaneLimits['outage'] {
    return this.#inner.outage
  }

  probeWaitMs(now: number): number {
    return this.#inner.probeWaitMs(now)
  }

  get isProbing(): boolean {
    return this.#inner.isProbing
  }

  endProbe(): void {
    this.#inner.endProbe()
  }

  note(attempt: Parameters<LaneLimits['note']>[0], now: number): boolean {
    return this.#inner.note(attempt, now)
  }

  get deliveredEvents(): number {
    return this.#inner.deliveredEvents
  }

  countDelivered(): void {
    this.#inner.countDelivered()
  }

  noteFailure(...given: Parameters<LaneLimits['noteFailure']>): void {
    this.#inner.noteFailure(...given)
  }

  get lastFailure(): LaneLimits['lastFailure'] {
    return this.#inner.lastFailure
  }

  get failing(): LaneLimits['failing'] {
    return this.#inner.failing
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#inner.close()
  }

  #mayStart(): boolean {
    if (this.#lease.mayStart()) return true
    if (this.#isClosed || this.#timer !== undefined || this.#lease.signal.aborted) return false
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined
      if (this.#lease.mayStart()) this.#wake()
      else this.#mayStart()
    }, ASK_AGAIN_MS)
    return false
  }
}
