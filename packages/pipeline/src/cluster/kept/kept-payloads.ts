import type { DeliveryStore, PlaceStore } from '@millrace/delivery'
import type { Offset, OffsetRange } from '@millrace/log'
import type { Clock, Logger } from '@millrace/std'
import type { OnGap } from '../../delivery/delivery-deps.ts'
import type { Activity } from '../../following/activity.ts'
import type { ClusterLog } from '../cluster-log.ts'
import type { HeldShard } from '../held-shard.ts'
import { Turns } from '../turns.ts'

/** Name of the reader whose position is the offset before which unfinished records are copied. */
const KEPT_READER = 'kept-records'
/** The reason shown in traces. */
export const LOG_CUT = 'log was cut'
/** Of a topic that ends before the places of its readers. */
const CUT_SHORT = 'the topic was made anew or lost its newest records'
/** A copy begins at half of the retention; a look takes place often enough within the other half. */
const LOOKS_IN_RETENTION = 20
const MIN_LOOK_MS = 1_000
const MAX_LOOK_MS = 60_000
const MAX_HOLES = 100

export interface KeptPayloadsOptions {
  readonly log: ClusterLog
  readonly store: Pick<DeliveryStore, 'outcomes'> & { readonly places: PlaceStore }
  readonly shards: () => readonly HeldShard[]
  readonly clock: Clock
  readonly logger: Logger
  /** Events of a destination are lost; they are counted by records. */
  readonly onCut: (destinationId: string, count: number) => void
}

/**
 * Copies the payloads of what still waits before the topics delete them: when a record is older than half of the retention, its
 * owner writes it to Postgres, and delivery reads it from there. What a topic deleted before that ends as expired.
 *
 * @see contracts/cluster.md §6 [K15]
 */
export class KeptPayloads {
  readonly #options: KeptPayloadsOptions
  readonly #turns: Turns
  /** By partition, from its claim on. */
  readonly #parts = new Map<number, CopiedPart>()
  #cut: string | undefined

  constructor(options: KeptPayloadsOptions) {
    this.#options = options
    const { log, clock, logger } = options
    const everyMs = Math.min(MAX_LOOK_MS, Math.max(MIN_LOOK_MS, log.retention.retentionMs / LOOKS_IN_RETENTION))
    const onError = (error: Error) => logger.warn({ cause: error.message }, 'waiting events cannot be kept; retrying')
    this.#turns = new Turns(clock, everyMs, () => this.#look(), onError)
    this.#turns.start()
  }

  /** What topics deleted too early since the start, for /health; undefined: nothing. */
  warning(): string | undefined {
    return this.#cut
  }

  stop(): Promise<void> {
    return this.#turns.stop()
  }

  /**
   * Takes a shard up before its readers begin: what its destinations had not read, and the topics no longer have, is lost unless
   * an earlier owner has copied it.
   */
  async begin(partitions: readonly number[], destinations: readonly StartingDestination[]): Promise<void> {
    const { log, store } = this.#options
    const copied = await store.places.of(KEPT_READER)
    for (const partition of partitions) {
      const written = copied.get(partition)
      await this.#findBeyond(partition, destinations)
      const first = await log.deletedBefore(partition)
      // The position of a destination without events is old: only what an owner has seen tells that nothing waited.
      for (const { id, activity, startOf } of destinations) {
        if (written === undefined) break
        await this.#lose(id, activity, partition, { from: Math.max(startOf(partition), written), to: first })
      }
      const to = Math.max(written ?? 0, first)
      const isCut = written !== undefined && written < to
      // At once: the next claim must not count what is lost again.
      if (isCut) await store.places.write({ reader: KEPT_READER, partition, offset: to })
      this.#parts.set(partition, { to, written: isCut ? to : written, holes: [], replayed: new Set() })
    }
  }

  /**
   * A topic that was made anew, or lost its newest records, ends before the places of its readers. They wait until it has passed these:
   * whether that is a loss, a person must decide.
   */
  async #findBeyond(partition: number, destinations: readonly StartingDestination[]): Promise<void> {
    const { log, logger } = this.#options
    const isBeyond = ({ startOf }: StartingDestination) => startOf(partition) > log.end(partition)
    if (!destinations.some(isBeyond)) return
    // Other processes may have appended since this one last looked.
    await log.readEnds()
    for (const destination of destinations.filter(isBeyond)) {
      const [offset, end] = [destination.startOf(partition), log.end(partition)]
      const fields = { destinationId: destination.id, partition, offset, end }
      logger.error(fields, `${CUT_SHORT}: events up to the position are not delivered`)
      this.#cut = `${destination.id} has read partition ${partition} up to ${offset}, but it ends at ${end}: ${CUT_SHORT}, and events up to ${offset} are not delivered`
    }
  }

  /** A reader came to a gap: what was copied it has read, or did not need. */
  readonly onGap: OnGap = async (destinationId, activity, partition, { from, to }) => {
    const part = this.#parts.get(partition)
    if (part === undefined) return
    for (const hole of [...part.holes, { from: part.to, to }]) {
      const lost = { from: Math.max(from, hole.from), to: Math.min(to, hole.to) }
      await this.#lose(destinationId, activity, partition, lost)
    }
  }

  /** A partition that cannot be read holds up no other one. @throws the first error, at the end. */
  async #look(): Promise<void> {
    const errors: unknown[] = []
    const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => errors.push(error))
    for (const { lease, pipeline } of this.#options.shards()) {
      for (const partition of pipeline.partitions) {
        const part = this.#parts.get(partition)
        if (part !== undefined && !lease.signal.aborted) await attempt(this.#keep(pipeline, partition, part))
      }
      await attempt(pipeline.needs({ writesIndex: false, dropsKept: true }))
    }
    if (errors.length > 0) throw errors[0]
  }

  async #keep(pipeline: HeldShard['pipeline'], partition: number, part: CopiedPart): Promise<void> {
    const { log, store } = this.#options
    const old = await log.oldestUnit(partition)
    const first = await log.deletedBefore(partition)
    if (part.to < first) {
      // Readers that are behind find the gap.
      part.holes.push({ from: part.to, to: first })
      if (part.holes.length > MAX_HOLES) part.holes.shift()
      part.to = first
    }
    if (old !== undefined && old.to > part.to) {
      await pipeline.keepUnfinished({ partition, from: part.to, to: old.to })
      part.to = old.to
    }
    if (part.written !== part.to) {
      await store.places.write({ reader: KEPT_READER, partition, offset: part.to })
      part.written = part.to
    }
    await pipeline.keepReplayed(partition, part.to, part.replayed)
  }

  /** Nobody knows whose the lost records were: they count for each connected source in equal parts. */
  async #lose(destinationId: string, activity: Activity, partition: number, lost: OffsetRange): Promise<void> {
    if (lost.from >= lost.to) return
    const { store, clock, logger, onCut } = this.#options
    const connected = activity.connectedRanges(partition, lost.from, lost.to)
    if (connected.length === 0) return
    const sources = new Set(connected.map(({ sourceId }) => sourceId)).size
    const ranges = connected.map(({ sourceId, from, to }) => ({
      ...{ destinationId, sourceId, partition, fromOffset: from, toOffset: to, outcome: 'expired' as const },
      ...{ reason: LOG_CUT, count: Math.ceil((to - from) / sources), at: clock.now() },
    }))
    const count = await store.outcomes.expireLost(ranges)
    if (count === 0) return
    onCut(destinationId, count)
    logger.error({ destinationId, partition, ...lost }, 'the topic deleted records that were not delivered yet')
    this.#cut = `${LOG_CUT}: ${destinationId} had not received records ${lost.from} to ${lost.to - 1} of partition ${partition}`
  }
}

/** A destination as a claim finds it. */
export interface StartingDestination {
  readonly id: string
  readonly activity: Activity
  /** Where it goes on reading. */
  startOf(partition: number): Offset
}

interface CopiedPart {
  /** Unfinished records before it are copied, but for those in holes. */
  to: number
  written: number | undefined
  /** What the topic deleted too early. */
  readonly holes: OffsetRange[]
  /** Offsets of replayed events that are copied. */
  readonly replayed: Set<number>
}
