import { Heap, Queue } from '@millrace/std'
import { BlockedEvents } from './blocked-events.ts'
import { passOver } from './delivery-history.ts'
import { KeyOrder } from './key-order.ts'
import type { LaneEvent } from './lane-event.ts'

/** Loaded ones that stand before the unloaded ones that are looked for. */
const MAX_PASSED_OVER = 64

interface Hold {
  readonly since: number
  readonly events: LaneEvent[]
}

/**
 * Who in a lane goes next: events that are ready, those that wait for an earlier one of their user, for a retry, or
 * because their connection is disabled. A waiting event is a link and a due time.
 *
 * All times are of the monotonic clock, in ms.
 */
export class LaneQueue {
  readonly #order = new KeyOrder()
  /** Taken up and without final outcome, in the order of take-up. */
  readonly #unfinished = new Set<LaneEvent>()
  #unfinishedBytes = 0
  /** By stream: those of an earlier stream go first. */
  readonly #readyByStream = [new Queue<LaneEvent>(), new Queue<LaneEvent>(), new Queue<LaneEvent>()] as const
  /** Those that wait for an earlier one. */
  readonly blocked = new BlockedEvents()
  #retrying = 0
  readonly #retries = new Heap<{ readonly event: LaneEvent; readonly due: number }>(({ due }) => due)
  /** By source: ready events whose connection is disabled. */
  readonly #held = new Map<string, Hold>()

  get unfinished(): ReadonlySet<LaneEvent> {
    return this.#unfinished
  }

  /** Events that wait for their next attempt. */
  get retrying(): number {
    return this.#retrying
  }

  /** The last event that was taken up with a key, of those that are unfinished. */
  lastOf(key: number): LaneEvent | undefined {
    return this.#order.lastOf(key)
  }

  get unfinishedBytes(): number {
    return this.#unfinishedBytes
  }

  /** @returns the earlier events that it waits for. */
  add(event: LaneEvent, isOrdered: boolean): readonly LaneEvent[] {
    this.#unfinished.add(event)
    this.#unfinishedBytes += event.sizeBytes
    const before = isOrdered ? this.#order.add(event) : []
    if (before.length === 0) {
      event.state = 'ready'
      this.#readyOf(event).addLast(event)
    } else {
      event.state = 'blocked'
      this.blocked.add(event)
    }
    return before
  }

  /** Takes out the next that may go. @param mayReplay whether that may be a dead letter that is replayed. */
  takeReady(mayReplay: boolean): LaneEvent | undefined {
    const [live, backfill, replayed] = this.#readyByStream
    return firstReady(live) ?? firstReady(backfill) ?? (mayReplay ? firstReady(replayed) : undefined)
  }

  /** Takes out the next that may go and have no payload. The loaded ones before them keep their places. */
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

  /** It is the next again. */
  putBack(event: LaneEvent): void {
    this.stopWaiting(event)
    event.state = 'ready'
    this.#readyOf(event).addFirst(event)
  }

  /** It gets another state than `blocked` or `retrying`. */
  stopWaiting(event: LaneEvent): void {
    if (event.state === 'blocked') this.blocked.remove(event)
    else if (event.state === 'retrying') this.#retrying--
  }

  /** Of these, whose turn came before user code had run over them are the next again. */
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

  /** @returns when the next one is due, if any waits. */
  takeDueRetries(now: number): number | undefined {
    for (let first = this.#retries.first(); first !== undefined; first = this.#retries.first()) {
      const { event, due } = first
      // A probe may have taken the event out of turn: then this entry is void.
      if (event.state === 'retrying' && event.history!.due === due) {
        if (due > now) return due
        this.putBack(event)
      }
      this.#retries.takeFirst()
    }
    return undefined
  }

  /** When the next retry is due, if any waits. */
  nextRetry(): number | undefined {
    return this.takeDueRetries(Number.NEGATIVE_INFINITY)
  }

  /** Events of these sources are held until they are left out again; the time does not count against them. */
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

  /** Sets a ready event aside if it is held. */
  hold(event: LaneEvent): boolean {
    const hold = this.#held.get(event.sourceId)
    hold?.events.push(event)
    return hold !== undefined
  }

  /**
   * The earliest in the log that waits for nothing but its time: the one to try when the destination is in trouble. A dead
   * letter that is replayed is the one only where nobody else waits.
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

  /** Those who waited for nobody else become ready. */
  finish(event: LaneEvent): void {
    this.stopWaiting(event)
    event.state = 'done'
    if (this.#unfinished.delete(event)) this.#unfinishedBytes -= event.sizeBytes
    this.#order.finish(event, (follower) => {
      if (follower.state !== 'blocked') return
      this.blocked.remove(follower)
      follower.state = 'ready'
      this.#readyOf(follower).addLast(follower)
    })
  }

  #readyOf({ stream }: LaneEvent): Queue<LaneEvent> {
    return this.#readyByStream[stream as 0 | 1 | 2]
  }
}

/** Takes it out, with those before it that were given up, or sent as a probe, while they stood there. */
function firstReady(queue: Queue<LaneEvent>): LaneEvent | undefined {
  for (let event = queue.takeFirst(); event !== undefined; event = queue.takeFirst()) {
    if (event.state === 'ready') return event
  }
  return undefined
}

function goesBefore(a: LaneEvent, b: LaneEvent): boolean {
  const isReplay = a.replayed !== undefined
  return isReplay === (b.replayed !== undefined) ? isBefore(a, b) : !isReplay
}

function isBefore(a: LaneEvent, b: LaneEvent): boolean {
  return a.partition === b.partition && (a.offset < b.offset || (a.offset === b.offset && a.index < b.index))
}
