import type { OutboundCall, OutboundRequest, OutboundResult } from '../outbound/outbound-request.ts'
import type { LaneEvent } from './lane-event.ts'
import type { LaneClient } from './lane-options.ts'

/** The calls of a lane that are in flight: at most one per event, and one for all events of a batch. */
export class CallsInFlight {
  readonly #client: LaneClient
  readonly #calls = new Map<LaneEvent, OutboundCall>()
  /** Events of batches, by the first one of each, which stands for it in `#calls`. */
  readonly #batches = new Map<LaneEvent, readonly LaneEvent[]>()
  #ofReplays = 0
  #onIdle: () => void = () => {}

  constructor(client: LaneClient) {
    this.#client = client
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

  /** Number of calls for replayed events. */
  get ofReplays(): number {
    return this.#ofReplays
  }

  /** @param onEnd called once, after the call has been removed from here. */
  send(event: LaneEvent, request: OutboundRequest, onEnd: (result: OutboundResult) => void): void {
    if (event.replayed !== undefined) this.#ofReplays++
    const call = this.#client.send(request, (result) => {
      this.#calls.delete(event)
      if (event.replayed !== undefined) this.#ofReplays--
      onEnd(result)
      if (this.#calls.size === 0) this.#onIdle()
    })
    this.#calls.set(event, call)
  }

  /** As `send`, for events that travel together. */
  sendBatch(events: readonly LaneEvent[], request: OutboundRequest, onEnd: (result: OutboundResult) => void): void {
    const [first] = events
    this.#batches.set(first!, events)
    this.send(first!, request, (result) => {
      this.#batches.delete(first!)
      onEnd(result)
    })
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
