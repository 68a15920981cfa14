import type { Offset } from '@millrace/log'
import { type StoredEvent, storedEvents } from '@millrace/protocol'
import type { Clock, Logger } from '@millrace/std'
import { type LiveResult, LiveView } from '../events/live-view.ts'
import type { ClusterLog } from './cluster-log.ts'
import { Turns } from './turns.ts'

const TURN_MS = 500
/** Of each partition in a turn; what is beyond is read in the next one. */
const READ_BYTES = 1024 * 1024

/** An outcome that some process has written. */
export interface WrittenOutcome extends LiveResult {
  readonly partition: number
  readonly offset: number
  readonly index: number
}

/** The duplicates of a record that some process has found. */
export interface WrittenDuplicates {
  readonly partition: number
  readonly offset: number
  readonly indexes: readonly number[]
}

export interface ClusterLiveOptions {
  readonly log: ClusterLog
  /** Follows the outcomes that all processes write, from now on. */
  readonly outcomes: () => Promise<Recent<WrittenOutcome>>
  readonly duplicates: () => Promise<Recent<WrittenDuplicates>>
  /** The destinations that a source was connected to at an offset. */
  readonly destinationsOf: (sourceId: string, partition: number, offset: number) => readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

interface Recent<T> {
  /** What was written since the last call. */
  next(): Promise<readonly T[]>
}

interface Following {
  /** Where each partition is read on. */
  readonly offsets: Offset[]
  readonly outcomes: Recent<WrittenOutcome>
  readonly duplicates: Recent<WrittenDuplicates>
}

/**
 * The live view of the whole installation: while somebody watches, it reads the ends of all partitions and the new outcomes of all
 * processes every 500 ms.
 *
 * @see contracts/cluster.md §10 [K19]
 */
export class ClusterLive {
  readonly view: LiveView
  readonly #options: ClusterLiveOptions
  readonly #turns: Turns
  /** Set while somebody watches. */
  #following: Following | undefined
  /** Of the first look since somebody watches. */
  #begun = Promise.withResolvers<void>()

  constructor(options: ClusterLiveOptions) {
    const { clock, logger } = options
    this.#options = options
    this.view = new LiveView(clock)
    const onError = (error: Error) => logger.warn({ err: error }, 'events cannot be shown as they happen')
    this.#turns = new Turns(clock, TURN_MS, () => this.#look().finally(() => this.#begun.resolve()), onError)
    this.view.onWatched = () => {
      if (!this.view.isWatched) return void this.#rest()
      this.#begun = Promise.withResolvers()
      this.#turns.start()
      this.#turns.wake()
    }
  }

  /** Resolves when those who watch get all that happens from then on; also if that cannot be read now. */
  begun(): Promise<void> {
    return this.#begun.promise
  }

  async close(): Promise<void> {
    this.view.close()
    await this.#rest()
  }

  async #rest(): Promise<void> {
    await this.#turns.stop()
    if (!this.view.isWatched) this.#following = undefined
  }

  async #look(): Promise<void> {
    const { log, outcomes, duplicates } = this.#options
    const ends = await log.readEnds()
    this.#following ??= { offsets: [...ends], outcomes: await outcomes(), duplicates: await duplicates() }
    const { offsets } = this.#following
    for (const [partition, end] of ends.entries()) {
      if (offsets[partition]! < end) offsets[partition] = await this.#readOn(partition, offsets[partition]!)
    }
    await this.#showDuplicates(await this.#following.duplicates.next())
    await this.#showOutcomes(await this.#following.outcomes.next())
  }

  async #readOn(partition: number, from: Offset): Promise<Offset> {
    const { log } = this.#options
    const stream = partition < log.homes ? 'live' : 'backfill'
    const { records, next } = await log.read(partition, stream, from, READ_BYTES)
    for (const record of records) this.view.accepted(record.header, () => storedEvents(record).events)
    return next
  }

  async #showOutcomes(outcomes: readonly WrittenOutcome[]): Promise<void> {
    for (const [partition, ofPartition] of Map.groupBy(outcomes, (outcome) => outcome.partition)) {
      const known = await this.#eventsAt(partition, ofPartition)
      for (const { offset, index, ...outcome } of ofPartition) {
        const of = known.get(offset)
        const event = of?.events[index]
        if (event !== undefined) this.view.outcome(event, of!.sourceId, outcome)
      }
    }
  }

  /** As an outcome at each destination of its source. */
  async #showDuplicates(duplicates: readonly WrittenDuplicates[]): Promise<void> {
    const { destinationsOf } = this.#options
    for (const [partition, ofPartition] of Map.groupBy(duplicates, (each) => each.partition)) {
      const known = await this.#eventsAt(partition, ofPartition)
      for (const { offset, indexes } of ofPartition) {
        const of = known.get(offset)
        if (of === undefined) continue
        for (const destinationId of destinationsOf(of.sourceId, partition, offset)) {
          for (const event of indexes.flatMap((index) => of.events[index] ?? [])) {
            this.view.outcome(event, of.sourceId, { ...AS_DUPLICATE, destinationId })
          }
        }
      }
    }
  }

  /** The events of records; those that the log no longer has are missing. */
  async #eventsAt(partition: number, places: readonly { readonly offset: Offset }[]): Promise<Map<Offset, ReadRecord>> {
    const offsets = [...new Set(places.map(({ offset }) => offset))]
    const records = await this.#options.log.get(partition, offsets)
    const known = new Map<Offset, ReadRecord>()
    for (const [i, record] of records.entries()) {
      if (record === undefined) continue
      known.set(offsets[i]!, { sourceId: record.header.sourceId, events: storedEvents(record).events })
    }
    return known
  }
}

interface ReadRecord {
  readonly sourceId: string
  readonly events: readonly StoredEvent[]
}

const AS_DUPLICATE = { outcome: 'duplicate', reason: null, status: 0, durationMs: 0 } as const
