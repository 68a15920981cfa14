import { type DeliveryStore, outcomePortData, type Span } from '@millrace/delivery'
import { type EventLog, framedRecords } from '@millrace/log'
import { ApiError } from '@millrace/openapi'
import { formatTime } from '@millrace/protocol'
import { type Clock, ReaderThread } from '@millrace/std'
import type { Shard } from '../host/shard.ts'
import { asksForOutcome, matchesOutcome } from './event-filter.ts'
import { CLOCK_MARGIN_MS } from './look-back.ts'
import type { ShownOutcome } from './outcomes-now.ts'
import type { CountedBy, EventCalls, FoundEvent, ListFilter, LookPlace, Step } from './search-calls.ts'

const MAX_LOOKED = 1_000_000
const MAX_MS = 1_000
/** Maximum of waiting calls: each uses the thread for about a second at most. */
const MAX_WAITING = 8
/** Size of the first read, for the frequent page of the newest events; it doubles with each read. */
const FIRST_READ_BYTES = 64 * 1024
const MAX_READ_BYTES = 1024 * 1024
/** The search for a time stops when it is this near. */
const NEAR_OFFSETS = 256

export interface EventListOptions {
  readonly log: EventLog
  readonly store: Pick<DeliveryStore, 'outcomePort'>
  readonly clock: Clock
  /** The shard that owns a partition. */
  readonly shardOf: (partition: number) => Pick<Shard, 'outcomesNow'>
  readonly spans: () => readonly Span[]
  /** Called when its thread ended; the thread restarts. */
  readonly onThreadEnd: (error: Error) => void
}

export interface ListedEvent {
  readonly messageId: string
  readonly sourceId: string
  readonly acceptedAt: string
  readonly type: string
  readonly name: string
  readonly userId: string | null
  readonly anonymousId: string | null
  readonly outcomes: readonly ShownOutcome[]
}

export interface EventPage {
  readonly events: readonly ListedEvent[]
  /** Where the list continues; undefined when all events were searched. */
  readonly next: readonly LookPlace[] | undefined
}

export interface RuleCount {
  /** Events that each rule decides. In front, at 0, those that no rule matches. */
  readonly decided: readonly number[]
  /** Every event of the range that the log still has was counted; else only those accepted from `countedFrom` on. */
  readonly isComplete: boolean
  /** Ms since 1970. */
  readonly countedFrom: number
}

/**
 * Accepted events, newest first, with their outcomes. Separate threads read the log backwards from its end, so neither
 * ingest nor delivery waits, and no index is needed. One call searches at a time.
 *
 * @see contracts/delivery.md §8 [D623]
 */
export class EventList {
  readonly #options: EventListOptions
  readonly #thread: ReaderThread<EventCalls>
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(options: EventListOptions) {
    this.#options = options
    this.#thread = new ReaderThread({
      file: new URL('./search-thread.ts', import.meta.url),
      name: 'events',
      data: () => outcomePortData(options.store),
      clock: options.clock,
      onEnd: options.onThreadEnd,
    })
  }

  /** A warning if its thread ends repeatedly. */
  trouble(): string | undefined {
    return this.#thread.trouble()
  }

  /** @throws ApiError 503 if too many other calls wait. */
  async list(filter: ListFilter, limit: number, places: readonly LookPlace[] | undefined): Promise<EventPage> {
    return this.#inTurn(() => this.#lookBack(filter, limit, places))
  }

  /**
   * Counts what rules would decide, from the newest event of the range backwards, within the bounds of a list.
   *
   * @throws ApiError 503 when too many others wait.
   */
  async count(by: CountedBy): Promise<RuleCount> {
    return this.#inTurn(() => this.#countBack(by))
  }

  /** Ends of the partitions, where a first call begins. */
  ends(): number[] {
    const { log } = this.#options
    return Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.close()
  }

  async #inTurn<T>(look: () => Promise<T>): Promise<T> {
    if (this.#isClosed || this.#waiting > MAX_WAITING) throw new ApiError('unavailable', 'Too many searches')
    this.#waiting++
    const done = this.#last.then(look)
    this.#last = done.catch(() => {}).finally(() => this.#waiting--)
    return done
  }

  async #countBack(by: CountedBy): Promise<RuleCount> {
    const { log, clock } = this.#options
    const decided: number[] = Array(by.rules.list.length + 1).fill(0)
    const places = await this.#startingPlaces(by)
    const reads = new Reads(log, places)
    const open = new Map(places.map((_, partition) => [partition, by.to]))
    let looked = 0
    let end = Number.POSITIVE_INFINITY
    while (open.size > 0 && looked < MAX_LOOKED && clock.monotonic() < end) {
      for (const partition of [...open.keys()]) {
        const { frames, isFirst } = await reads.read(partition)
        const step = await this.#thread.call('count', { ...by, frames }, [frames.buffer])
        // Starting the thread, as the first call does, is no part of counting.
        if (looked === 0) end = clock.monotonic() + MAX_MS
        looked += step.looked
        for (const [i, count] of step.decided.entries()) decided[i]! += count
        const { oldestAt = by.to } = step
        if (isFirst || oldestAt < by.from - CLOCK_MARGIN_MS) open.delete(partition)
        else open.set(partition, Math.min(oldestAt, by.to))
      }
    }
    return { decided, isComplete: open.size === 0, countedFrom: Math.max(by.from, ...open.values()) }
  }

  async #lookBack(filter: ListFilter, limit: number, given: readonly LookPlace[] | undefined): Promise<EventPage> {
    const { clock, spans } = this.#options
    let end = Number.POSITIVE_INFINITY
    const thread = this.#thread
    const connections = asksForOutcome(filter) ? spans().filter(({ kind }) => kind === 'connection') : []
    const events: ListedEvent[] = []
    let places = given ?? (await this.#startingPlaces(filter))
    let looked = 0
    while (looked < MAX_LOOKED && clock.monotonic() < end) {
      await thread.call('begin', { filter, places, spans: connections })
      // The time to start the thread, on the first call, does not count.
      end = Math.min(end, clock.monotonic() + MAX_MS)
      const reads = new Reads(this.#options.log, places)
      let step: Step | undefined
      do {
        const chunk = step?.wants === undefined ? undefined : await reads.read(step.wants)
        const request = { chunk, mostFound: limit - events.length, mostLooked: MAX_LOOKED - looked }
        step = await thread.call('goOn', request, chunk === undefined ? [] : [chunk.frames.buffer])
        looked += step.looked
        places = step.places
        for (const event of await this.#shown(step.found)) {
          if (matches(event, filter)) events.push(event)
        }
        if (step.isAtEnd) return { events, next: undefined }
        if (events.length >= limit) return { events, next: places }
      } while (step.wants !== undefined && looked < MAX_LOOKED && clock.monotonic() < end)
    }
    return { events, next: places }
  }

  async #shown(found: readonly FoundEvent[]): Promise<ListedEvent[]> {
    const outcomes = await this.#outcomesNow(found)
    return found.map(({ messageId, sourceId, acceptedAt, type, name, userId, anonymousId }, i) => ({
      messageId,
      sourceId,
      acceptedAt: formatTime(acceptedAt),
      type,
      name,
      userId,
      anonymousId,
      outcomes: outcomes[i]!,
    }))
  }

  /** Parallel to the events. */
  async #outcomesNow(found: readonly FoundEvent[]): Promise<ShownOutcome[][]> {
    const outcomes: ShownOutcome[][] = []
    for (const [partition, places] of Map.groupBy(found.keys(), (i) => found[i]!.partition)) {
      const shown = await this.#options.shardOf(partition).outcomesNow(places.map((i) => found[i]!))
      for (const [n, i] of places.entries()) outcomes[i] = shown[n]!
    }
    return outcomes
  }

  /** The end of the log or, for a list that ends earlier, a place not long after that time: found by halving. */
  async #startingPlaces({ to }: Pick<ListFilter, 'to'>): Promise<LookPlace[]> {
    const { log } = this.#options
    const places: LookPlace[] = []
    for (const [partition, end] of this.ends().entries()) {
      let high = end
      let low = to === undefined ? high : 0
      while (to !== undefined && high - low > NEAR_OFFSETS) {
        const middle = Math.floor((low + high) / 2)
        const [record] = framedRecords((await log.readBack(partition, middle, 1)).frames)
        if (record === undefined || record.header.acceptedAt < to + CLOCK_MARGIN_MS) low = middle
        else high = record.offset
      }
      places.push({ offset: high, index: 0 })
    }
    return places
  }
}

/** Reads each partition backwards from its place, in growing steps. */
class Reads {
  readonly #log: EventLog
  readonly #before: number[]
  #bytes = FIRST_READ_BYTES

  constructor(log: EventLog, places: readonly LookPlace[]) {
    this.#log = log
    // Unless the index is 0, some events of the record at this place are still unread.
    this.#before = places.map(({ offset, index }) => (index > 0 ? offset + 1 : offset))
  }

  async read(partition: number) {
    const { frames, next } = await this.#log.readBack(partition, this.#before[partition]!, this.#bytes)
    this.#before[partition] = next
    this.#bytes = Math.min(this.#bytes * 2, MAX_READ_BYTES)
    return { partition, frames, isFirst: next === 0 }
  }
}

function matches({ outcomes }: ListedEvent, filter: ListFilter): boolean {
  return !asksForOutcome(filter) || outcomes.some((each) => matchesOutcome(each, filter))
}
