import { type FilterReason, type Lane, LaneEvent, type LaneOutcomes } from '@millrace/delivery'
import type { StoredRecord } from '@millrace/log'
import { hash53, type StoredEvent } from '@millrace/protocol'
import type { Activity } from '../following/activity.ts'
import { bytesPerEvent, type ParsedRecords } from './parsed-records.ts'
import type { PartitionFeed } from './partition-feed.ts'

/**
 * Turns the events of a record into events of the lane. It skips duplicates and events whose outcome the last run
 * recorded, resumes recorded waits, and records filtered events.
 */
export class EventIntake {
  /** Decides which records are taken. */
  activity: Activity
  readonly #options: EventIntakeOptions
  #reached = 0
  #eventBytes = 1024

  constructor(options: EventIntakeOptions) {
    this.activity = options.activity
    this.#options = options
  }

  /** Index of the last event read: where to continue after `take` has thrown. */
  get reached(): number {
    return this.#reached
  }

  /** Bytes per event of the last record that had events; an estimate before the first. */
  get eventBytes(): number {
    return this.#eventBytes
  }

  /**
   * @param most maximum of events to add to the lane.
   * @param until index of the first event that is left for later.
   * @returns undefined if all events before it were taken, else the index of the first event without room.
   */
  take(
    feed: PartitionFeed,
    stream: number,
    record: StoredRecord,
    first: number,
    most: number,
    until = Number.POSITIVE_INFINITY,
  ): number | undefined {
    const { lane, outcomes, parsed, filter, now, revision } = this.#options
    this.#reached = first
    const { partition } = feed
    const { sourceId, acceptedAt } = record.header
    const { offset, duplicates } = record
    if (!this.activity.isConnected(sourceId, partition, offset)) return undefined
    const events = parsed.eventsOf(partition, record)
    const isDisabled = this.activity.isDisabled(partition, offset)
    const { progress, again } = feed.streams[stream]!
    const sizeBytes = bytesPerEvent(record, events.length)
    if (events.length > 0) this.#eventBytes = sizeBytes
    const keys = keySeeds(sourceId, stream)
    let room = Math.min(lane.room, most)
    const end = Math.min(events.length, until)
    const firstWanted = again === undefined ? first : Math.max(first, again.firstOf(sourceId, offset))
    for (let index = firstWanted; index < end; index++) {
      this.#reached = index
      const event = events[index]!
      if (duplicates?.has(index)) {
        this.#options.onDuplicate(event, sourceId)
        continue
      }
      const recorded = feed.recordedAt(offset, index)
      if (recorded !== undefined) {
        if (recorded !== 'done') lane.resume([recorded])
        continue
      }
      const place = { partition, stream, offset, index }
      if (again?.isDone(sourceId, place) === true) continue
      const facts = { sourceId, acceptedAt, sizeBytes, userKey: 0, anonymousKey: 0 }
      let laneEvent: LaneEvent | undefined
      try {
        const reason = isDisabled ? 'destination is disabled' : filter(event, sourceId)
        if (reason !== undefined) {
          outcomes.filtered(place, reason, now(), revision())
          this.#options.onFiltered(event, sourceId, reason)
          continue
        }
        if (room <= 0) return index
        room--
        if (event.userId) facts.userKey = hash53(event.userId, keys.user)
        if (event.anonymousId) facts.anonymousKey = hash53(event.anonymousId, keys.anonymous)
        laneEvent = new LaneEvent(place, facts, event)
        progress.add(laneEvent)
        lane.add(laneEvent)
      } catch (error) {
        lane.refuse(laneEvent ?? new LaneEvent(place, facts, event), error as Error)
      }
    }
    return undefined
  }
}

export interface EventIntakeOptions {
  readonly lane: Lane
  readonly outcomes: LaneOutcomes
  readonly parsed: ParsedRecords
  readonly activity: Activity
  readonly filter: (event: StoredEvent, sourceId: string) => FilterReason | undefined
  readonly now: () => number
  readonly revision: () => number
  readonly onFiltered: (event: StoredEvent, sourceId: string, reason: FilterReason) => void
  /** Duplicate of an earlier event: not delivered. */
  readonly onDuplicate: (event: StoredEvent, sourceId: string) => void
}

/** Order holds per user and source within a stream: seeds for the hashes of ids. */
export function keySeeds(sourceId: string, stream: number): { user: number; anonymous: number } {
  const key = `${stream} ${sourceId}`
  let seeds = KEY_SEEDS.get(key)
  if (seeds === undefined) {
    if (KEY_SEEDS.size >= 10_000) KEY_SEEDS.clear()
    seeds = { user: hash53(`user ${key}`) | 0, anonymous: hash53(`anonymous ${key}`) | 0 }
    KEY_SEEDS.set(key, seeds)
  }
  return seeds
}

const KEY_SEEDS = new Map<string, { user: number; anonymous: number }>()
