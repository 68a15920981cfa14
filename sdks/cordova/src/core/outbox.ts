import type { Bridge, Drained, DrainOutcome, Push, Report, StateChanges } from './bridge.ts'
import type { Clock } from './clock.ts'
import type { Sending } from './results.ts'

export interface OutboxOptions {
  readonly bridge: Bridge
  readonly clock: Clock
  readonly flushQueueSize: number
  readonly sleepTimeoutMs: number
  readonly onReport: (report: Report) => void
}

/** Outcomes after which there is nothing to wait for. */
const STOPS: readonly DrainOutcome[] = [
  'OPTED_OUT',
  'AWAITING_CONSENT',
  'KEY_REJECTED',
  'SOURCE_DISABLED',
  'NOT_FOUND',
  'WRONG_ADDRESS',
  'NO_DATA_PLANE_URL',
]

/**
 * Brings rows to the engine, all of one turn in one call, and says when it is time to send.
 *
 * A drain begins at once with a full batch; else when the oldest event and the last drain are both `sleepTimeout` ago; when
 * the wait that the engine named is over; and when it is asked for.
 *
 * @see contracts/cordova-sdk.md §14
 */
export class Outbox {
  queued = 0
  sending: Sending = 'idle'
  private readonly options: OutboxOptions
  private rows: { body: string }[] = []
  private changes: Record<string, string | null> = {}
  private turn: Promise<{ inMemory: boolean }> | undefined
  private cancelTimer: (() => void) | undefined
  private isPaused = false

  constructor(options: OutboxOptions) {
    this.options = options
  }

  /** Resolves once what was added in this turn is committed, or held in memory. */
  add(body: string | undefined, changes: StateChanges): Promise<{ inMemory: boolean }> {
    if (body !== undefined) this.rows.push({ body })
    Object.assign(this.changes, changes)
    // A microtask: a page that is being left runs them still, and no timer.
    this.turn ??= Promise.resolve().then(() => this.commit())
    return this.turn
  }

  /** Hands over what has been added so far; what is called on the bridge afterwards comes after it. */
  commit(): Promise<{ inMemory: boolean }> {
    const push: Push = { rows: this.rows, state: this.changes }
    this.turn = undefined
    if (push.rows.length === 0 && Object.keys(push.state).length === 0) return Promise.resolve({ inMemory: false })
    this.rows = []
    this.changes = {}
    return this.options.bridge.push(push).then(({ queued, inMemory, report }) => {
      this.queued = queued
      this.options.onReport(report)
      this.schedule()
      return { inMemory }
    })
  }

  /** Sends now. @param force skips the random part of a wait. */
  async drain(force: boolean): Promise<Drained> {
    this.stopTimer()
    const before = this.sending
    this.sending = 'active'
    try {
      const drained = await this.options.bridge.drain({ force })
      this.heard(drained)
      return drained
    } catch (error) {
      this.sending = before
      throw error
    }
  }

  /** A drain has ended, ours or one that the engine began. */
  heard({ sent, remaining, outcome, retryAfterMs, report }: Drained): void {
    this.queued = remaining
    this.options.onReport(report)
    this.stopTimer()
    if (STOPS.includes(outcome)) this.sending = 'stopped'
    else if (outcome === 'EMPTY') this.sending = 'idle'
    else this.sending = 'waiting'
    if (this.sending === 'waiting') this.setTimer(retryAfterMs ?? this.options.sleepTimeoutMs)
    // What a drain leaves without having sent anything is not for us to send: it would never end.
    else if (this.sending === 'idle' && remaining > 0) this.schedule(sent > 0)
  }

  /** The reason for a stop is gone, or an earlier run left something. */
  resume(): void {
    this.isPaused = false
    if (this.sending === 'stopped') this.sending = 'idle'
    this.schedule()
  }

  pause(): void {
    this.isPaused = true
    this.sending = 'stopped'
    this.stopTimer()
  }

  /**
   * New rows are offered while stopped as well: the engine answers at once if it is, and goes on if only the events of a
   * former write key were refused.
   */
  private schedule(mayBeAtOnce = true): void {
    const isReady = this.sending === 'idle' || this.sending === 'stopped'
    if (this.isPaused || this.queued === 0 || !isReady) return
    const isFull = this.queued >= this.options.flushQueueSize && this.sending === 'idle'
    if (isFull && mayBeAtOnce) this.drainByItself()
    // The wait begins here: with the oldest event of the partial batch, or with the end of the drain that left it.
    else if (!this.cancelTimer) this.setTimer(this.options.sleepTimeoutMs)
  }

  private setTimer(delayMs: number): void {
    if (this.isPaused) return
    this.cancelTimer = this.options.clock.after(delayMs, () => this.drainByItself())
  }

  private stopTimer(): void {
    this.cancelTimer?.()
    this.cancelTimer = undefined
  }

  private drainByItself(): void {
    // An engine rejects only what should not happen; the next push tries again.
    this.drain(false).catch(() => undefined)
  }
}
