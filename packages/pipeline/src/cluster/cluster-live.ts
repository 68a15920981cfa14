import type { Offset } from '@millrace/log'
import { type StoredEvent, storedEvents } from '@millrace/protocol'
import type { Clock, Logger } from '@millrace/std'
import type { Outcome } from '../events/event-filter.ts'
import { LiveView } from '../events/live-view.ts'
import type { ClusterLog } from './cluster-log.ts'
import { Turns } from './turns.ts'

const TURN_MS = 500
/** Of each partition in a turn; what is beyond is read in the next one. */
const READ_BYTES = 1024 * 1024

/** A final outcome that some process has written. */
export interface WrittenOutcome {
  readonly destinationId: string
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly outcome: Outcome
  readonly reason: string | null
  readonly status: number
  readonly durationMs: number
}

export interface ClusterLiveOptions {
  readonly log: ClusterLog
  /** Follows the outcomes that all processes write, from now on. */
  readonly recent: () => Promise<{ next(): Promise<readonly WrittenOutcome[]> }>
  readonly clock: Clock
  readonly logger: Logger
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
  /** Where each partition is read on; undefined while nobody watches. */
  #following:
    | { readonly offsets: Offset[]; readonly recent: Awaited<ReturnType<ClusterLiveOptions['recent']>> }
    | undefined
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
    const { log, recent } = this.#options
    const ends = await log.readEnds()
    this.#following ??= { offsets: [...ends], recent: await recent() }
    const { offsets } = this.#following
    for (const [partition, end] of ends.entries()) {
      if (offsets[partition]! < end) offsets[partition] = await this.#readOn(partition, offsets[partition]!)
    }
    await this.#showOutcomes(await this.#following.recent.next())
  }

  async #readOn(partition: number, from: Offset): Promise<Offset> {
    const { log } = this.#options
    const stream = partition < log.homes ? 'live' : 'backfill'
    const { records, next } = await log.read(partition, stream, from, READ_BYTES)
    for (const record of records) this.view.accepted(record.header, () => storedEvents(record).events)
    return next
  }

  async #showOutcomes(outcomes: readonly WrittenOutcome[]): Promise<void> {
    const { log } = this.#options
    for (const [partition, ofPartition] of Map.groupBy(outcomes, (outcome) => outcome.partition)) {
      const offsets = [...new Set(ofPartition.map(({ offset }) => offset))]
      const records = await log.get(partition, offsets)
      const known = new Map<Offset, { readonly sourceId: string; readonly events: readonly StoredEvent[] }>()
      for (const [i, record] of records.entries()) {
        if (record === undefined) continue
        known.set(offsets[i]!, { sourceId: record.header.sourceId, events: storedEvents(record).events })
      }
      for (const { offset, index, ...outcome } of ofPartition) {
        const of = known.get(offset)
        const event = of?.events[index]
        if (event !== undefined) this.view.outcome(event, of!.sourceId, outcome)
      }
    }
  }
}
