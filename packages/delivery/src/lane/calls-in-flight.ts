import { ReleasingMap } from '@millrace/std'
import type { LaneLimits } from '../limits/destination-limits.ts'
import type { OutboundCall, OutboundRequest, OutboundResult } from '../outbound/outbound-request.ts'
import type { LaneClient } from './lane-options.ts'
import type { LaneEvent } from './queue/lane-event.ts'

/**
 * The calls of a lane that are in flight: at most one per event, and one for all events of a batch. Each has a right to it, taken
 * from the destination's limits. A call that follows another one at once takes over its right.
 */
export class CallsInFlight {
  readonly #client: LaneClient
  readonly #limits: LaneLimits
  readonly #calls = new ReleasingMap<LaneEvent, OutboundCall>()
  /** Events of batches, by the first one of each, which stands for it in `#calls`. */
  readonly #batches = new ReleasingMap<LaneEvent, readonly LaneEvent[]>()
  #ofReplays = 0
  /** A right that no call uses yet: whether it is one to replay. */
  #unused: boolean | undefined
  /** The same, of a batch that may have more to send. */
  #unusedOfBatch: boolean | undefined
  #onIdle: () => void = () => {}

  constructor(client: LaneClient, limits: LaneLimits) {
    this.#client = client
    this.#limits = limits
  }

  /** Whether the calls of this lane leave room for one more. Those of other lanes may still take it. */
  get mayAdd(): boolean {
    return this.#calls.size < this.#limits.concurrency
  }

  /** The same, for a replayed event: replays use at most half, so that live traffic has the rest. */
  get mayReplay(): boolean {
    return this.#ofReplays < Math.max(1, Math.floor(this.#limits.concurrency / 2))
  }

  /** Takes the right to a call; `send` uses it, else call `returnUnused`. */
  reserve({ replayed }: LaneEvent, now: number): boolean {
    const isReplay = replayed !== undefined
    const isTaken =
      this.#unused === undefined
        ? this.#limits.takeCall(isReplay)
        : this.#limits.exchangeCall(this.#unused, isReplay, now)
    this.#unused = isTaken ? isReplay : undefined
    return isTaken
  }

  /** The next `send` uses a right that was taken for this event before. */
  takeOver({ replayed }: LaneEvent): void {
    this.returnUnused()
    this.#unused = replayed !== undefined
  }

  /** The batch whose call has just ended has no more to send. */
  endBatch(): void {
    if (this.#unusedOfBatch === undefined) return
    this.returnUnused()
    this.#unused = this.#unusedOfBatch
    this.#unusedOfBatch = undefined
  }

  returnUnused(): void {
    if (this.#unused === undefined) return
    this.#limits.returnCall(this.#unused)
    this.#unused = undefined
  }

  get count(): number {
    return this.#calls.size
  }

  /** Number of events in flight. */
  get events(): number {
    let events = this.#calls.size
    for (const batch of this.#batches.values()) events += batch.length - 1
    return events
  }

  /** @param onEnd called once, after the call has been removed from here. */
  send(event: LaneEvent, request: OutboundRequest, onEnd: (result: OutboundResult) => void): void {
    this.#send(event, request, false, onEnd)
    this.#unused = undefined
  }

  /** As `send`, for events that travel together. */
  sendBatch(events: readonly LaneEvent[], request: OutboundRequest, onEnd: (result: OutboundResult) => void): void {
    const [first] = events
    this.#batches.add(first!, events)
    this.#send(first!, request, true, onEnd)
    if (this.#unused === undefined) this.#unusedOfBatch = undefined
    else this.#unused = undefined
  }

  #send(event: LaneEvent, request: OutboundRequest, isBatch: boolean, onEnd: (result: OutboundResult) => void): void {
    if (event.replayed !== undefined) this.#ofReplays++
    const call = this.#client.send(request, (result) => this.#ended(event, isBatch, result, onEnd))
    this.#calls.add(event, call)
  }

  #ended(event: LaneEvent, isBatch: boolean, result: OutboundResult, onEnd: (result: OutboundResult) => void): void {
    const isReplay = event.replayed !== undefined
    this.#calls.take(event)
    if (isReplay) this.#ofReplays--
    if (isBatch) {
      this.#batches.take(event)
      this.#unusedOfBatch = isReplay
    } else {
      this.#unused = isReplay
    }
    try {
      onEnd(result)
    } finally {
      this.endBatch()
      this.returnUnused()
    }
    if (this.#calls.size === 0) this.#onIdle()
  }

  /** Ends the call of an event. That of a batch goes on: its other events need the answer. */
  abort(event: LaneEvent): void {
    if (!this.#batches.has(event)) this.#calls.get(event)?.abort()
  }

  /** Waits for all calls; aborts those without an answer at the deadline. */
  async settled(deadline: Promise<void>): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
      if (this.#calls.size === 0) resolve()
    })
    await Promise.race([deadline, idle])
    for (const call of [...this.#calls.values()]) call.abort()
    await idle
  }
}
