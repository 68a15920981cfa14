import { type Clock, Queue, ReleasingMap } from '@millrace/std'
import type { Alarm } from '../alarm.ts'
import type { DeliveryAttempts } from '../attempts/attempts.ts'
import type { CallsInFlight } from '../calls-in-flight.ts'
import type { MemoryBudget } from '../memory-budget.ts'
import { LOADED_TOGETHER } from '../payloads.ts'
import type { ReadyRequests } from '../prepared.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import type { LaneQueue } from '../queue/lane-queue.ts'
import { allowedOf, Batch, type Throttle } from './batch.ts'
import type { BatchAttempts } from './batch-attempts.ts'

/** Parts of a lane that batching uses. */
export interface BatchingDeps extends Throttle {
  readonly queue: LaneQueue
  readonly calls: CallsInFlight
  readonly memory: MemoryBudget
  /** Maximum events of a batch. */
  readonly batchEvents: () => number
  readonly alarm: Alarm
  readonly clock: Clock
  readonly attempts: DeliveryAttempts
  readonly batches: BatchAttempts
  /** Removes the next ready event from the queue that is loaded, not held and prepared by user code. */
  readonly next: () => LaneEvent | undefined
  /** Whether a blocked event could be sent but for the events before it. */
  readonly isLoadedAndPrepared: (event: LaneEvent) => boolean
  /** Reads the payloads of blocked events. What the log has lost is told when its turn comes. */
  readonly loadBlocked: (events: readonly LaneEvent[]) => Promise<void>
  /** Other lanes of the destination have all calls; the lane is woken. */
  readonly onRefused: () => void
}

/** Events of batches that fill: at most two full batches, or so many if that is more. */
const MAX_JOINED = 1_000

/**
 * Fills batches, one for each key, and starts them: at once while no call is in flight, else when they are full or their first
 * event has waited long enough.
 *
 * @see contracts/delivery.md §4a
 */
export class Batching {
  readonly #deps: BatchingDeps
  readonly #throttle: Throttle
  /** By number, oldest first. */
  readonly #filling = new ReleasingMap<number, Batch>()
  /** The same, by stream and key. */
  readonly #byKey = [
    new ReleasingMap<string, Batch>(),
    new ReleasingMap<string, Batch>(),
    new ReleasingMap<string, Batch>(),
  ] as const
  #lastNumber = 0
  #joined = 0
  /** The batch that an event has joined last, if no batches were started since then. */
  #lastJoined: Batch | undefined
  /** Blocked events whose earlier events have all joined one batch. */
  readonly #followers = new Queue<LaneEvent>()
  #isLoadingFollowers = false
  /** Since the last pump; the lane is woken when the next event may go. */
  #isRefused = false

  constructor(deps: BatchingDeps) {
    this.#deps = deps
    this.#throttle = { throttleMs: deps.throttleMs, onThrottled: (waitMs) => this.#throttled(waitMs) }
  }

  /** Takes what is ready, and starts what is due. */
  pump(now: number): void {
    this.#isRefused = false
    this.#deps.batches.goOn((event) => this.#reserve(event, now))
    const wasIdle = this.#deps.calls.count === 0
    this.#startDue(now)
    while (!this.#isCrowded && (this.#takeNext(now) || this.#takeFollower(now))) {
      if (this.#lastJoined?.isFull || this.#isCrowded || this.#deps.memory.isUsedUp) this.#startDue(now)
    }
    if (wasIdle) this.#start(now, () => true)
    const first = this.#filling.values().next().value
    if (first !== undefined && this.#deps.calls.mayAdd && !this.#isRefused)
      this.#deps.alarm.ringWithin(Math.max(0, first.dueAt - now))
  }

  #startDue(now: number): void {
    this.#lastJoined = undefined
    const isCrowded = this.#isCrowded || this.#deps.memory.isUsedUp
    this.#start(now, (batch) => isCrowded || batch.isFull || batch.dueAt <= now)
  }

  get #isCrowded(): boolean {
    return this.#joined >= Math.max(MAX_JOINED, 2 * this.#deps.batchEvents())
  }

  /** Starts all batches that a slot is free for; the lane is about to stop. */
  startAll(): void {
    this.#start(this.#deps.clock.monotonic(), () => true)
  }

  /** Puts the events of all batches that fill, and what is left of halved ones, back into the queue, in their order. */
  disband(): void {
    const batches = [...this.#filling.values()]
    for (const batch of batches) this.#ended(batch)
    for (const batch of batches.reverse()) this.#putBack(batch.events)
    this.#deps.batches.interrupt()
  }

  /** Removes an event that is dropped from the batch that it joined. */
  remove(event: LaneEvent): void {
    for (const batch of this.#filling.values()) {
      if (!batch.events.includes(event)) continue
      const { bytes } = batch
      batch.remove(event)
      this.#joined--
      this.#deps.memory.giveBack(bytes - batch.bytes)
      if (batch.events.length === 0) this.#ended(batch)
      return
    }
  }

  /** Puts events that were not sent back into the queue. */
  #putBack(events: readonly LaneEvent[]): void {
    for (const event of events.toReversed()) this.#deps.queue.putBackUnsent(event)
  }

  #reserve(event: LaneEvent, now: number): boolean {
    const { calls, onRefused } = this.#deps
    if (!calls.mayAdd) return false
    if (calls.reserve(event, now)) return true
    this.#isRefused = true
    onRefused()
    return false
  }

  /** @returns whether there may be more to take. */
  #takeNext(now: number): boolean {
    const event = this.#deps.next()
    if (event === undefined) return false
    const ready = this.#deps.attempts.prepare(event)
    if (ready === undefined || this.#join(event, ready, now)) return true
    const isAlone = ready.part === undefined || ready.part.bytes > ready.part.joiner.maxBytes
    if (isAlone && this.#reserve(event, now)) {
      const waitMs = this.#deps.throttleMs(event, now)
      if (waitMs === 0) {
        this.#deps.attempts.startReady(event, ready)
        return true
      }
      this.#throttled(waitMs)
    }
    this.#deps.queue.putBack(event)
    return false
  }

  /** Lets an event join the batch of the earlier ones of its user. */
  #takeFollower(now: number): boolean {
    const { queue, attempts, isLoadedAndPrepared } = this.#deps
    let unloaded: LaneEvent[] | undefined
    let isTaken = false
    for (let event = this.#followers.takeFirst(); event !== undefined; event = this.#followers.takeFirst()) {
      const batch = this.#batchBefore(event)
      if (batch === undefined || batch.isFull || queue.isHeld(event)) continue
      if (event.payload === undefined) {
        unloaded ??= []
        unloaded.push(event)
      } else if (isLoadedAndPrepared(event)) {
        const ready = attempts.requestsOf(event)
        if (ready === undefined || !isOf(batch, ready, event)) continue
        queue.stopWaiting(event)
        event.state = 'sending'
        isTaken = this.#join(event, ready, now)
        break
      }
    }
    if (unloaded !== undefined) void this.#loadFollowers(unloaded)
    return isTaken
  }

  async #loadFollowers(followers: readonly LaneEvent[]): Promise<void> {
    if (this.#isLoadingFollowers) return
    this.#isLoadingFollowers = true
    await this.#deps.loadBlocked(chainsOf(followers))
    this.#isLoadingFollowers = false
    for (const follower of followers) this.#followers.addLast(follower)
    this.#deps.alarm.ringWithin(0)
  }

  #join(event: LaneEvent, ready: ReadyRequests, now: number): boolean {
    const { part } = ready
    if (part === undefined || part.bytes > part.joiner.maxBytes) return false
    const byKey = this.#byKey[event.stream as 0 | 1 | 2]
    let batch = byKey.get(part.key)
    if (batch !== undefined && !batch.hasRoomFor(part)) {
      if (!this.#start(now, (each) => each === batch)) return false
      batch = undefined
    }
    if (batch === undefined) {
      batch = new Batch(++this.#lastNumber, part, event.stream, now)
      byKey.add(part.key, batch)
      this.#filling.add(batch.number, batch)
    }
    batch.add(event, ready)
    this.#lastJoined = batch
    this.#joined++
    this.#deps.memory.take(part.bytes)
    if (part.joiner.takesManyOfOneUser) {
      this.#noteFollower(event.userFollower, batch)
      this.#noteFollower(event.anonymousFollower, batch)
    }
    return true
  }

  /** Counts, for an event behind one that has joined, how many of its blockers are in the batch. */
  #noteFollower(event: LaneEvent | undefined, batch: Batch): void {
    if (event?.state !== 'blocked') return
    if (event.joinedBehind !== batch.number) {
      event.joinedBehind = batch.number
      event.blockersJoined = 0
    }
    if (++event.blockersJoined === event.blockers) this.#followers.addLast(event)
  }

  /** The batch that still fills, and that all blockers of the event are in. */
  #batchBefore({ state, joinedBehind, blockers, blockersJoined }: LaneEvent): Batch | undefined {
    return state === 'blocked' && blockersJoined === blockers ? this.#filling.get(joinedBehind) : undefined
  }

  /** @returns whether one was started. */
  #start(now: number, isMeant: (batch: Batch) => boolean): boolean {
    let isStarted = false
    for (const batch of this.#filling.values()) {
      if (!this.#deps.calls.mayAdd) break
      if (!isMeant(batch)) continue
      if (!this.#reserve(batch.events[0]!, now)) break
      const allowed = allowedOf(batch.events, now, this.#throttle)
      if (allowed === 0) break
      this.#ended(batch)
      if (allowed < batch.events.length) {
        this.#putBack(batch.events.splice(allowed))
        batch.parts.splice(allowed)
      }
      isStarted = true
      this.#deps.batches.start(batch)
    }
    return isStarted
  }

  #throttled(waitMs: number): void {
    this.#isRefused = true
    this.#deps.onThrottled(waitMs)
  }

  /** The batch no longer fills. */
  #ended(batch: Batch): void {
    this.#filling.take(batch.number)
    this.#byKey[batch.stream as 0 | 1 | 2].take(batch.key)
    this.#joined -= batch.events.length
    this.#deps.memory.giveBack(batch.bytes)
  }
}

function isOf(batch: Batch, { part }: ReadyRequests, { stream }: LaneEvent): boolean {
  return part?.joiner === batch.joiner && part.key === batch.key && stream === batch.stream && batch.hasRoomFor(part)
}

/** Blocked events, and those behind them, that are to be read together. */
function chainsOf(followers: readonly LaneEvent[]): LaneEvent[] {
  const chain = new Set<LaneEvent>()
  const next = [...followers].reverse()
  while (next.length > 0 && chain.size < LOADED_TOGETHER) {
    const event = next.pop()
    if (event === undefined || event.state !== 'blocked' || chain.has(event)) continue
    if (event.payload === undefined) chain.add(event)
    next.push(...[event.anonymousFollower, event.userFollower].filter((follower) => follower !== undefined))
  }
  return [...chain]
}
