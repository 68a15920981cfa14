import type { BatchPart, Joiner, ReadyRequests } from '../prepared.ts'
import type { LaneEvent } from '../queue/lane-event.ts'

/** Parts of a lane by which batches keep to the throttle. */
export interface Throttle {
  /** @returns how long the event has to wait for the throttle; 0 if it took its place. */
  readonly throttleMs: (event: LaneEvent, now: number) => number
  readonly onThrottled: (waitMs: number) => void
}

/** How many of these events the throttle lets go now. */
export function allowedOf(events: readonly LaneEvent[], now: number, { throttleMs, onThrottled }: Throttle): number {
  for (const [at, event] of events.entries()) {
    const waitMs = throttleMs(event, now)
    if (waitMs === 0) continue
    onThrottled(waitMs)
    return at
  }
  return events.length
}

/** Events that travel in one request. While it fills, events join; then it is sent. */
export class Batch {
  /** Of the batches of a lane, from 1. */
  readonly number: number
  readonly joiner: Joiner
  readonly key: string
  /** Of all its events: live events, backfills and replays never share a batch. */
  readonly stream: number
  /** When the first event joined (monotonic). */
  readonly since: number
  readonly events: LaneEvent[] = []
  readonly parts: ReadyRequests[] = []
  bytes = 0
  readonly #maxEvents: number

  constructor(number: number, { joiner, key, maxEvents }: BatchPart, stream: number, since: number) {
    this.number = number
    this.joiner = joiner
    this.key = key
    this.#maxEvents = Math.min(joiner.maxEvents, maxEvents)
    this.stream = stream
    this.since = since
  }

  get isFull(): boolean {
    return this.events.length >= this.#maxEvents || this.bytes >= this.joiner.maxBytes
  }

  get dueAt(): number {
    return this.since + this.joiner.maxAgeMs
  }

  hasRoomFor({ bytes }: BatchPart): boolean {
    return this.events.length < this.#maxEvents && this.bytes + bytes <= this.joiner.maxBytes
  }

  add(event: LaneEvent, ready: ReadyRequests): void {
    this.events.push(event)
    this.parts.push(ready)
    this.bytes += ready.part!.bytes
  }

  /** Removes an event that is no longer to be sent. */
  remove(event: LaneEvent): void {
    const at = this.events.indexOf(event)
    this.events.splice(at, 1)
    const [ready] = this.parts.splice(at, 1)
    this.bytes -= ready!.part!.bytes
  }
}
