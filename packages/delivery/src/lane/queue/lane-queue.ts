import { Heap, Queue } from '@millrace/std'
import { passOver } from '../history/delivery-history.ts'
import { BlockedEvents } from './blocked-events.ts'
import { KeyOrder } from './key-order.ts'
import type { LaneEvent } from './lane-event.ts'
import { isBefore } from './position.ts'

/** How many loaded events the search for unloaded ones may skip. */
const MAX_PASSED_OVER = 64

interface Hold {
  readonly since: number
  readonly events: LaneEvent[]
}

/**
 * The queue of a lane: events that are ready, blocked by an earlier event of their user, waiting for a retry, or held
 * because their connection is disabled. A waiting event is a link and a due time.
 *
 * All times are of the monotonic clock, in ms.
 */
export class LaneQueue {
  readonly #order = new KeyOrder()
  /** Events without a final outcome, in the order in which they were added. */
  readonly #unfinished = new Set<LaneEvent>()
  #unfinishedBytes = 0
  /** By stream; earlier streams go first. */
  readonly #readyByStream = [new Queue<LaneEvent>(), new Queue<LaneEvent>(), new Queue<LaneEvent>()] as const
  /** Events blocked by an earlier one. */
  readonly blocked = new BlockedEvents()
  #retrying = 0
  readonly #retries = new Heap<{ readonly event: LaneEvent; readonly due: number }>(({ due }) => due)
  /** Ready events of disabled connections, by source. */
  readonly #held = new Map<string, Hold>()

  get unfinished(): ReadonlySet<LaneEvent> {
    return this.#unfinished
  }

  /** Events that wait for their next attempt. */
  get retrying(): number {
    return this.#retrying
  }

  /** The last unfinished event with a key. */
  lastOf(key: number): LaneEvent | undefined {
    return this.#order.lastOf(key)
  }

  get unfinishedBytes(): number {
    return this.#unfinishedBytes
  }

  /** @returns the earlier events that block it. */
  add(event: LaneEvent, isOrdered: boolean): readonly LaneEvent[] {
    this.#unfinished.add(event)
    this.#unfinishedBytes += event.sizeBytes
    const before = isOrdered ? this.#order.add(event) : []
    if (before.length === 0) {
      event.state = 'ready'
      this.#readyOf(event).addLast(event)
    } else {
      this.block(event)
    }
    return before
  }

  /** Removes and returns the next ready event. @param mayReplay whether it may be a replayed event. */
  takeReady(mayReplay: boolean): LaneEvent | undefined {
    const [live, backfill, replayed] = this.#readyByStream
    return firstReady(live) ?? firstReady(backfill) ?? (mayReplay ? firstReady(replayed) : undefined)
  }

  /** Removes and returns the next ready events without payload. Loaded events before them keep their places. */
  takeUnloaded(mayReplay: boolean, most: number): LaneEvent[] {
    const unloaded: LaneEvent[] = []
    const others: LaneEvent[] = []
    for (let event = this.takeReady(mayReplay); event !== undefined; event = this.takeReady(mayReplay)) {
      if (event.payload === undefined && unloaded.length < most) unloaded.push(event)
      else others.push(event)
      if (others.length >= MAX_PASSED_OVER) break
    }
    for (const event of others.reverse()) this.putBack(event)
    return unloaded
  }

  /** Puts an event back at the front. */
  putBack(event: LaneEvent): void {
    this.stopWaiting(event)
    event.state = 'ready'
    this.#readyOf(event).addFirst(event)
  }

  /** Puts an event that was in a batch back at the front; it may be blocked by another one of that batch. */
  putBackUnsent(event: LaneEvent): void {
    if (event.blockers > 0) this.block(event)
    else this.putBack(event)
  }

  /** Makes an event wait for the earlier ones of its user. */
  block(event: LaneEvent): void {
    event.state = 'blocked'
    this.blocked.add(event)
  }

  /** Call before the event leaves the state `blocked` or `retrying`. */
  stopWaiting(event: LaneEvent): void {
    if (event.state === 'blocked') this.blocked.remove(event)
    else if (event.state === 'retrying') this.#retrying--
  }

  /** Puts the events in state `transforming` back at the front. */
  putBackTransforming(events: readonly LaneEvent[]): void {
    for (const event of events.toReversed()) if (event.state === 'transforming') this.putBack(event)
  }

  waitForRetry(event: LaneEvent, due: number): void {
    this.stopWaiting(event)
    event.state = 'retrying'
    this.#retrying++
    event.history!.due = due
    this.#retries.add({ event, due })
  }

  /** @returns the time of the next retry, if there is one. */
  takeDueRetries(now: number): number | undefined {
    for (let first = this.#retries.first(); first !== undefined; first = this.#retries.first()) {
      const { event, due } = first
      // A probe may have taken the event early: this entry is then stale.
      if (event.state === 'retrying' && event.history!.due === due) {
        if (due > now) return due
        this.putBack(event)
      }
      this.#retries.takeFirst()
    }
    return undefined
  }

  /** The time of the next retry, if there is one. */
  nextRetry(): number | undefined {
    return this.takeDueRetries(Number.NEGATIVE_INFINITY)
  }

  /** Holds the events of exactly these sources; held time does not count against them. */
  holdOnly(sourceIds: ReadonlySet<string>, now: number): void {
    for (const sourceId of sourceIds) {
      if (!this.#held.has(sourceId)) this.#held.set(sourceId, { since: now, events: [] })
    }
    for (const [sourceId, { since, events }] of this.#held) {
      if (sourceIds.has(sourceId)) continue
      this.#held.delete(sourceId)
      for (const event of this.#unfinished) if (event.sourceId === sourceId) passOver(event.history, now - since)
      for (const event of events) this.#readyOf(event).addLast(event)
    }
  }

  isHeld({ sourceId }: LaneEvent): boolean {
    return this.#held.has(sourceId)
  }

  /** Sets a ready event aside if its source is held. */
  hold(event: LaneEvent): boolean {
    const hold = this.#held.get(event.sourceId)
    hold?.events.push(event)
    return hold !== undefined
  }

  /**
   * The earliest event in the log that waits only for its time: the event to probe with. A replayed event is chosen only if
   * no other event waits.
   */
  earliest(): LaneEvent | undefined {
    let earliest: LaneEvent | undefined
    for (const event of this.#unfinished) {
      if (event.state !== 'ready' && event.state !== 'retrying') continue
      if (this.isHeld(event)) continue
      if (earliest === undefined || goesBefore(event, earliest)) earliest = event
    }
    return earliest
  }

  /** Call before events are removed while earlier ones stay: later events of the same users then wait for these. */
  leaveOut(events: ReadonlySet<LaneEvent>): void {
    const staying = this.#unfinished.values().filter((event) => !events.has(event))
    this.#order.leaveOut(events, staying)
  }

  /** Removes a finished event; followers that nothing else blocks become ready. */
  finish(event: LaneEvent): void {
    this.stopWaiting(event)
    event.state = 'done'
    if (this.#unfinished.delete(event)) this.#unfinishedBytes -= event.sizeBytes
    this.#order.finish(event, this.#free)
  }

  /** Nothing else blocks the event. */
  readonly #free = (event: LaneEvent): void => {
    if (event.state !== 'blocked') return
    this.blocked.remove(event)
    event.state = 'ready'
    this.#readyOf(event).addLast(event)
  }

  #readyOf({ stream }: LaneEvent): Queue<LaneEvent> {
    return this.#readyByStream[stream as 0 | 1 | 2]
  }
}

/** Removes and returns the first ready event; drops stale entries before it (given up, or sent as a probe). */
function firstReady(queue: Queue<LaneEvent>): LaneEvent | undefined {
  for (let event = queue.takeFirst(); event !== undefined; event = queue.takeFirst()) {
    if (event.state === 'ready') return event
  }
  return undefined
}

function goesBefore(a: LaneEvent, b: LaneEvent): boolean {
  const isReplay = a.replayed !== undefined
  return isReplay === (b.replayed !== undefined) ? a.partition === b.partition && isBefore(a, b) : !isReplay
}
