import {
  type BlockWrite,
  type DeadLetterRow,
  type FilterReason,
  filteredEntries,
  type JourneyWrite,
} from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import { orAborted } from '@millrace/std'
import type { DeliveryDeps } from '../delivery/delivery-deps.ts'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { ReplayedTake } from '../host/shard.ts'
import { bytesPerEvent } from '../reading/parsed-records.ts'
import { deliverWait, type ReplayedEvent, refuseWait, waitOf } from './log/replayed-event.ts'
import type { ScanPlace } from './log/scan-calls.ts'

export interface ReplayIntakeOptions {
  readonly deps: Pick<DeliveryDeps, 'log' | 'store' | 'clock' | 'parsed'>
  /** Undefined if the destination was removed. */
  readonly delivery: (destinationId: string) => DestinationDelivery | undefined
  readonly deliveries: () => Iterable<DestinationDelivery>
  /** The lane has finished an event of a replay. */
  readonly onEnded: (jobId: string, destinationId: string) => void
}

/** Starts the events of replays in the lanes of a shard. */
export class ReplayIntake {
  readonly #options: ReplayIntakeOptions
  /** By job: the takes that still read. */
  readonly #reading = new Map<string, Set<AbortController>>()

  constructor(options: ReplayIntakeOptions) {
    this.#options = options
  }

  /** @see Shard.takeReplayed */
  async take(take: ReplayedTake): Promise<{ taken: number; filtered: number } | undefined> {
    const { jobId, part, events, place, isAtEnd } = take
    const { partition, destinationId } = part
    const { delivery: deliveryOf, deps } = this.#options
    const payloads = await this.#unlessAbandoned(jobId, this.#eventsAt(partition, events))
    const delivery = deliveryOf(destinationId)
    if (delivery === undefined) return undefined
    const wanted: { event: ReplayedEvent; error?: Error }[] = []
    const filtered: { place: ScanPlace; reason: FilterReason }[] = []
    for (const [i, selected] of events.entries()) {
      const payload = payloads[i]
      if (payload === undefined || !delivery.mayReplay(partition, selected)) continue
      const event = { ...payload, ...selected, partition }
      try {
        const reason = delivery.stages.filter(payload.event, selected.sourceId)
        if (reason === undefined) wanted.push({ event })
        else filtered.push({ place: selected, reason })
      } catch (error) {
        wanted.push({ event, error: error as Error })
      }
    }
    const at = deps.clock.now()
    const waits = wanted.map(({ event }) => waitOf(event, delivery.destination, jobId, at))
    const indexes = await deps.store.jobs.takeEvents({
      ...{ jobId, destinationId, partition, place, isAtEnd, waits },
      filtered: filteredBlocks(take, delivery, filtered, at),
    })
    // The destination may have been removed meanwhile, which discarded its events.
    if (deliveryOf(destinationId) !== delivery) return { taken: 0, filtered: filtered.length }
    for (const index of indexes) {
      const { event: replayed, error } = wanted[index]!
      const [wait, onEnd] = [waits[index]!, this.#endOf(jobId, destinationId)]
      if (error === undefined) deliverWait(delivery.lane, wait, replayed.event, onEnd)
      else refuseWait(delivery.lane, wait, replayed.event, onEnd, error)
    }
    delivery.lane.pump()
    return { taken: indexes.length, filtered: filtered.length }
  }

  /** @see Shard.abandonTakes */
  abandonTakes(jobId: string): void {
    for (const reading of this.#reading.get(jobId) ?? []) reading.abort()
  }

  /** Passes events that a replay started before to the lanes again. */
  resume(waits: readonly JourneyWrite[]): void {
    for (const [destinationId, ofDestination] of Map.groupBy(waits, (wait) => wait.destinationId)) {
      const delivery = this.#options.delivery(destinationId)
      for (const wait of ofDestination) {
        const onEnd = this.#endOf(wait.replayId!, destinationId)
        if (delivery === undefined) onEnd()
        else deliverWait(delivery.lane, wait, undefined, onEnd)
      }
      delivery?.lane.pump()
    }
  }

  letters(letters: readonly DeadLetterRow[]): void {
    for (const [destinationId, ofDestination] of Map.groupBy(letters, (letter) => letter.destinationId)) {
      const delivery = this.#options.delivery(destinationId)
      for (const letter of ofDestination) {
        const onEnd = this.#endOf(letter.replayId!, destinationId)
        if (delivery?.replay(letter, onEnd) !== true) onEnd()
      }
      delivery?.lane.pump()
    }
  }

  withdraw(jobId: string): void {
    for (const { lane } of this.#options.deliveries()) lane.withdraw(jobId)
  }

  #endOf(jobId: string, destinationId: string): () => void {
    return () => this.#options.onEnded(jobId, destinationId)
  }

  async #unlessAbandoned<T>(jobId: string, read: Promise<T>): Promise<T> {
    const reading = new AbortController()
    const ofJob = this.#reading.getOrInsertComputed(jobId, () => new Set())
    ofJob.add(reading)
    try {
      return await orAborted(read, reading.signal)
    } finally {
      ofJob.delete(reading)
      if (ofJob.size === 0) this.#reading.delete(jobId)
    }
  }

  /** Events of the log; undefined for those that are gone. */
  async #eventsAt(
    partition: number,
    places: readonly ScanPlace[],
  ): Promise<({ event: StoredEvent; sizeBytes: number } | undefined)[]> {
    const { log, parsed } = this.#options.deps
    const records = await log.get(
      partition,
      places.map(({ offset }) => offset),
    )
    return places.map(({ index }, i) => {
      const record = records[i]
      const events = record === undefined ? [] : parsed.eventsOf(partition, record)
      const event = events[index]
      return event && { event, sizeBytes: bytesPerEvent(record!, events.length) }
    })
  }
}

function filteredBlocks(
  { jobId, part: { partition, destinationId } }: ReplayedTake,
  { stages: { revision } }: DestinationDelivery,
  events: readonly { place: ScanPlace; reason: FilterReason }[],
  at: number,
): BlockWrite[] {
  if (events.length === 0) return []
  const offsets = events.map(({ place }) => place.offset)
  const block = {
    destinationId,
    partition,
    revision,
    replayId: jobId,
    firstOffset: Math.min(...offsets),
    lastOffset: Math.max(...offsets),
    lastAt: at,
    entries: filteredEntries(
      events.map(({ place: { offset, index }, reason }) => {
        return { offset, index, outcome: 'filtered', reason, status: 0, durationMs: 0, at }
      }),
    ),
  }
  return [block]
}
