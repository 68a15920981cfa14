import type { OutcomesOfEvents, RecordedOutcome } from '@millrace/delivery'
import type { StoredRecord } from '@millrace/log'
import { framedRecords } from '@millrace/log/frames'
import { eventCount, type StoredEvent } from '@millrace/protocol'
import { Activity } from '../following/activity.ts'
import { readableEvents } from '../reading/readable-events.ts'
import { asksForOutcome, eventFacts, isUnfinished, matchesEvent, matchesOutcome } from './event-filter.ts'
import { RawSearch } from './raw-search.ts'
import type { Chunk, FoundEvent, LookBackStart, LookPlace, Step } from './search-calls.ts'

/** Number of events whose outcomes are read together. */
const READ_TOGETHER = 500
/**
 * Records are ordered by acceptance, but the wall clock may have been set: a search ends only at records that are this
 * much older than its start time.
 */
export const CLOCK_MARGIN_MS = 60_000

/**
 * Searches the events of all partitions backwards, newest first. The caller passes records of the partition that the
 * search asks for; each step returns the events found and the new place. The acceptance time orders events of different
 * partitions.
 */
export class LookBack {
  readonly #start: LookBackStart
  readonly #outcomes: OutcomesOfEvents
  readonly #raw: RawSearch
  readonly #parts: Part[]
  /** By destination. */
  readonly #activities: ReadonlyMap<string, Activity>

  constructor(start: LookBackStart, outcomes: OutcomesOfEvents) {
    this.#start = start
    this.#outcomes = outcomes
    this.#raw = new RawSearch(start.filter)
    this.#parts = start.places.map((place, partition) => ({
      partition,
      place,
      records: [],
      isAtEnd: place.offset === 0 && place.index === 0,
    }))
    const byDestination = Map.groupBy(start.spans, ({ destinationId }) => destinationId)
    this.#activities = new Map([...byDestination].map(([id, spans]) => [id, new Activity(spans)]))
  }

  /** @see EventCalls.goOn */
  async goOn(chunk: Chunk | undefined, mostFound: number, mostLooked: number): Promise<Step> {
    if (chunk !== undefined) this.#take(chunk)
    const found: FoundEvent[] = []
    const together = asksForOutcome(this.#start.filter) ? READ_TOGETHER : mostFound
    let candidates: Candidate[] = []
    let looked = 0
    for (;;) {
      const wants = this.#parts.find(({ records, isAtEnd }) => records.length === 0 && !isAtEnd)?.partition
      const part = wants === undefined ? this.#newest() : undefined
      const isAtEnd = wants === undefined && part === undefined
      if (
        part === undefined ||
        looked >= mostLooked ||
        candidates.length >= Math.min(together, mostFound - found.length)
      ) {
        const taken = await this.#withOutcomes(candidates, mostFound - found.length)
        found.push(...taken.map(({ event }) => event))
        candidates = []
        const isEnough = found.length >= mostFound
        // Events read after the last returned one are read again.
        const places = isEnough ? taken.at(-1)!.places : this.#places()
        if (isEnough) return { found, looked, places, wants: undefined, isAtEnd: isAtEnd && this.#isLast(places) }
        if (part === undefined || looked >= mostLooked) return { found, looked, places, wants, isAtEnd }
        continue
      }
      looked++
      const candidate = this.#lookAtNext(part)
      if (candidate !== undefined) candidates.push({ event: candidate, places: this.#places() })
    }
  }

  #take({ partition, frames, isFirst }: Chunk): void {
    const part = this.#parts[partition]!
    for (const record of framedRecords(frames)) part.records.push({ record, events: undefined })
    // Consumed from the end.
    part.records.reverse()
    part.isAtEnd = isFirst
    this.#passOverOld(part)
  }

  #newest(): Part | undefined {
    let newest: Part | undefined
    for (const part of this.#parts) {
      if (part.records.length > 0 && (newest === undefined || timeOf(part) > timeOf(newest))) newest = part
    }
    return newest
  }

  /** Reads the next event of a partition. @returns the event if it may match. */
  #lookAtNext(part: Part): FoundEvent | undefined {
    const current = part.records.at(-1)!
    const { record } = current
    const { header, offset } = record
    const index = (part.place.offset === offset && part.place.index > 0 ? part.place.index : eventCount(header)) - 1
    const { filter } = this.#start
    const isWanted =
      index >= 0 &&
      (filter.sourceId === undefined || filter.sourceId === header.sourceId) &&
      (filter.from === undefined || header.acceptedAt >= filter.from) &&
      (filter.to === undefined || header.acceptedAt < filter.to)
    if (isWanted) current.events ??= this.#raw.mayHold(record) ? readableEvents(record) : []
    const event = current.events?.[index]
    part.place = { offset, index: Math.max(0, index) }
    if (index <= 0) {
      part.records.pop()
      if (part.isAtEnd && part.records.length === 0) part.place = { offset: 0, index: 0 }
      this.#passOverOld(part)
    }
    if (!isWanted || event === undefined || !matchesEvent(event, filter)) return undefined
    const { sourceId, acceptedAt } = header
    const isDuplicate = record.duplicates?.has(index) === true
    const facts = { ...eventFacts(event), isDuplicate, recorded: [] }
    return { partition: part.partition, offset, index, sourceId, acceptedAt, ...facts }
  }

  /** A partition ends where all records are older than the start time. */
  #passOverOld(part: Part): void {
    const { from } = this.#start.filter
    if (from === undefined || part.records.length === 0 || timeOf(part) >= from - CLOCK_MARGIN_MS) return
    part.records = []
    part.isAtEnd = true
    part.place = { offset: 0, index: 0 }
  }

  /** Candidates whose outcomes match, at most this many. */
  async #withOutcomes(candidates: readonly Candidate[], most: number): Promise<Candidate[]> {
    const recorded = new Map<Candidate, RecordedOutcome[]>()
    for (const [partition, group] of Map.groupBy(candidates, ({ event }) => event.partition)) {
      const sought = group.map(({ event }) => event)
      const outcomes = await this.#outcomes.outcomesOf(partition, sought)
      for (const [i, candidate] of group.entries()) recorded.set(candidate, outcomes[i]!)
    }
    return candidates
      .map((each) => ({ ...each, event: { ...each.event, recorded: recorded.get(each)! } }))
      .filter(({ event }) => this.#mayMatch(event))
      .slice(0, most)
  }

  /**
   * Recorded outcomes decide. Only delivery knows the state of an event in progress, so such an event stays a
   * candidate.
   */
  #mayMatch(event: FoundEvent): boolean {
    const { filter } = this.#start
    if (!asksForOutcome(filter)) return true
    const { recorded, sourceId, partition, offset, isDuplicate } = event
    if (recorded.some((each) => each.outcome !== 'waiting' && matchesOutcome(each, filter))) return true
    const { outcome = isDuplicate ? 'duplicate' : 'pending' } = filter
    if (isDuplicate ? outcome !== 'duplicate' : !isUnfinished(outcome)) return false
    const isHere = (id: string) => filter.destinationId === undefined || filter.destinationId === id
    if (recorded.some(({ destinationId, outcome }) => outcome === 'waiting' && isHere(destinationId))) return true
    for (const [id, activity] of this.#activities) {
      if (!isHere(id) || recorded.some(({ destinationId }) => destinationId === id)) continue
      if (activity.isConnected(sourceId, partition, offset)) return true
    }
    return false
  }

  #places(): LookPlace[] {
    return this.#parts.map(({ place }) => place)
  }

  #isLast(places: readonly LookPlace[]): boolean {
    return this.#parts.every(({ place }, i) => place.offset === places[i]!.offset && place.index === places[i]!.index)
  }
}

interface Candidate {
  readonly event: FoundEvent
  /** The place of the search after this event. */
  readonly places: readonly LookPlace[]
}

interface Part {
  readonly partition: number
  place: LookPlace
  /** Oldest first: the next one is the last. */
  records: { readonly record: StoredRecord; events: readonly StoredEvent[] | undefined }[]
  /** Whether these are the first records of the partition. */
  isAtEnd: boolean
}

function timeOf({ records }: Part): number {
  return records.at(-1)!.record.header.acceptedAt
}
