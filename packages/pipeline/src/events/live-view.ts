import { ApiError } from '@millrace/openapi'
import { eventCount, formatTime, type RecordHeader, type StoredEvent } from '@millrace/protocol'
import type { Clock, Timer } from '@millrace/std'
import {
  asksForOutcome,
  eventFacts,
  matchesEvent,
  matchesOutcome,
  type Outcome,
  takesEveryEvent,
} from './event-filter.ts'
import { LiveListener, type LiveListenerOptions } from './live-listener.ts'

const MAX_LISTENERS = 20
const TICK_MS = 1_000
const BEAT_TICKS = 15
/** A client that reads nothing for this time is disconnected. */
const MAX_STALLED_MS = 60_000

/** The new outcome of an event at a destination. */
export interface LiveResult {
  readonly destinationId: string
  readonly outcome: Outcome
  readonly reason: string | null
  /** Status of the last attempt; 0 if there was none. */
  readonly status: number
  readonly durationMs: number
}

/** What a shard tells the clients that watch. */
export interface LiveSink {
  readonly isWatched: boolean
  accepted(header: RecordHeader, events: () => readonly StoredEvent[]): void
  outcome(event: StoredEvent, sourceId: string, live: LiveResult): void
}

/**
 * Sends events and outcomes to clients as they happen. Without clients it costs one comparison for each event.
 *
 * @see contracts/delivery.md §8 [D639]
 */
export class LiveView implements LiveSink {
  readonly #clock: Clock
  readonly #listeners = new Set<LiveListener>()
  #timer: Timer | undefined
  #ticks = 0
  #isClosed = false
  /** Called when the first client comes, and when the last one goes. */
  onWatched: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  /** @throws ApiError 503 for the 21st listener. */
  open(options: Omit<LiveListenerOptions, 'clock'>): LiveListener {
    if (this.#listeners.size >= MAX_LISTENERS) throw new ApiError('unavailable', 'Too many listeners')
    if (this.#isClosed) throw new ApiError('unavailable', 'Service unavailable')
    const listener: LiveListener = new LiveListener({
      ...options,
      clock: this.#clock,
      onEnd: () => {
        this.#listeners.delete(listener)
        if (!this.isWatched) this.onWatched()
        options.onEnd()
      },
    })
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.onWatched()
    listener.beat()
    this.#timer ??= this.#clock.setTimer(() => this.#tick(), TICK_MS)
    return listener
  }

  /** @param events of the record; called only if a client needs them. */
  accepted(header: RecordHeader, events: () => readonly StoredEvent[]): void {
    const acceptedAt = formatTime(header.acceptedAt)
    for (const listener of this.#listeners) {
      const { filter } = listener
      if (asksForOutcome(filter)) continue
      if (filter.sourceId !== undefined && filter.sourceId !== header.sourceId) continue
      if (takesEveryEvent(filter) && listener.isFull) {
        listener.skip(eventCount(header))
        continue
      }
      for (const event of events()) {
        if (!matchesEvent(event, filter)) continue
        if (listener.isFull) {
          listener.skip(1)
          continue
        }
        const { messageId, ...facts } = eventFacts(event)
        const message = { messageId, sourceId: header.sourceId, acceptedAt, ...facts }
        listener.send('accepted', JSON.stringify(message))
      }
    }
  }

  outcome(event: StoredEvent, sourceId: string, live: LiveResult): void {
    const { destinationId, outcome, reason, status, durationMs } = live
    const wasAttempted = status !== 0
    const message = {
      messageId: event.messageId,
      destinationId,
      outcome,
      reason,
      status: wasAttempted ? status : null,
      durationMs: wasAttempted ? Math.round(durationMs) : null,
    }
    for (const listener of this.#listeners) {
      const { filter } = listener
      if (filter.sourceId !== undefined && filter.sourceId !== sourceId) continue
      if (!matchesOutcome(live, filter) || !matchesEvent(event, filter)) continue
      if (listener.isFull) listener.skip(1)
      else listener.send('outcome', JSON.stringify(message))
    }
  }

  /** Events that a shard did not show, because too many happened at once. */
  skipped(count: number): void {
    for (const listener of this.#listeners) listener.skip(count)
  }

  /** Disconnects all clients and accepts no new ones. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    for (const listener of this.#listeners) listener.end()
  }

  #tick(): void {
    this.#ticks++
    for (const listener of this.#listeners) {
      if (!listener.mayStay() || listener.stalledMs >= MAX_STALLED_MS) listener.end()
      else if (this.#ticks % BEAT_TICKS === 0) listener.beat()
    }
    this.#timer = this.isWatched ? this.#clock.setTimer(() => this.#tick(), TICK_MS) : undefined
  }
}
