import type { Clock, Timer } from '@millrace/std'
import type { EventPlace } from '../../lane/queue/event-place.ts'
import type { ShardFence } from '../shard-fence.ts'
import type { Flush, FlushAnswer, RefusedRow } from './flush.ts'
import { withoutPartitions } from './flush-of-shards.ts'
import { LaneOutcomes, MAX_UNWRITTEN } from './lane-outcomes.ts'
import { INTERNAL_ERROR, withoutRefused } from './replaced-rows.ts'
import { Unwritten, type WokenLane } from './unwritten.ts'

const FLUSH_INTERVAL_MS = 20
const RETRY_INTERVAL_MS = 1_000
/** Maximum delay of a position that moved without an outcome: a crash only reads a few events again. */
const IDLE_FLUSH_INTERVAL_MS = 5_000
/** Limit for replacing the refused rows of one flush with dead letters: above it the fault is not in the rows. */
const MAX_REPLACEMENTS = 3
/** Maximum of causes that one flush logs. */
const MAX_LOGGED = 10

export interface OutcomeWriterOptions {
  /** Writes the flush in one transaction, or nothing. @throws if the database does not work now. */
  readonly write: (flush: Flush) => Promise<FlushAnswer>
  /** Writers in other threads that have lanes of the same destinations, this one included. Default 1. */
  readonly writers?: number | undefined
  /** Only for a store that several processes write. */
  readonly fence?: ShardFence | undefined
  readonly clock: Clock
  readonly logger: { error(fields: object, text: string): void; info(fields: object, text: string): void }
  /** Called once if no write is possible until a restart. */
  readonly onFault?: ((error: Error) => void) | undefined
}

/**
 * Collects the outcomes of all destinations and writes them every 20 ms or 1,000 outcomes, together with the positions
 * behind them. Several writers share the 1,000. A failed write is retried without limit: delivery waits meanwhile.
 *
 * @see contracts/delivery.md §11
 */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions
  readonly #clock: Clock
  readonly #logger: OutcomeWriterOptions['logger']
  /** The lanes of a destination in all writers together repeat at most MAX_UNWRITTEN outcomes after a crash. */
  readonly #maxUnwritten: number
  /** By destination, for all that had a lane since the start. */
  readonly #unwritten = new Map<string, Unwritten>()
  readonly #dirty = new Set<LaneOutcomes>()
  #timer: Timer | undefined
  #timerIsIdle = false
  /** State of the flush in progress. */
  #flushing: Promise<void> | undefined
  #isClosing = false
  #trouble: string | undefined
  #underWay: { readonly partition: number; readonly state: { readonly isRecorded: boolean } } | undefined
  /** The fault that stopped all writing. */
  #fault: Error | undefined

  constructor(options: OutcomeWriterOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#logger = options.logger
    this.#maxUnwritten = Math.floor(MAX_UNWRITTEN / (options.writers ?? 1))
  }

  /** @see DeliveryStore.outcomesOf */
  outcomesOf(destinationId: string): LaneOutcomes {
    const onDirty = (outcomes: LaneOutcomes) => {
      this.#dirty.add(outcomes)
      this.#planFlush()
    }
    const unwritten = this.#unwritten.get(destinationId) ?? new Unwritten(this.#maxUnwritten)
    this.#unwritten.set(destinationId, unwritten)
    return new LaneOutcomes(destinationId, onDirty, unwritten)
  }

  /** The event that runs alone: the first flush after its outcome ends the note. */
  setUnderWay(
    underWay: { readonly partition: number; readonly state: { readonly isRecorded: boolean } } | undefined,
  ): void {
    this.#underWay = underWay
  }

  /** Why outcomes cannot be written now. */
  trouble(): string | undefined {
    return this.#fault?.message ?? this.#trouble
  }

  /** Writes all collected outcomes; resolves when they are on disk. @throws the fault that stopped all writing. */
  async flush(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    if (this.#fault === undefined && this.#dirty.size > 0) await this.#flush()
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Writes the last outcomes, once. Outcomes that cannot be written are delivered again after the next start. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      await this.flush()
    } catch (error) {
      this.#logger.error(
        { cause: (error as Error).message },
        'the last outcomes could not be written: their events are delivered again after the next start',
      )
    } finally {
      this.#timer?.cancel()
    }
  }

  /** Stops all writing: the collected outcomes are delivered again after a restart. */
  fail(error: Error): void {
    if (this.#fault !== undefined) return
    this.#fault = error
    if (!this.#isClosing) this.#options.onFault?.(error)
  }

  #planFlush(): void {
    if (this.#flushing !== undefined || this.#fault !== undefined) return
    const gathered = this.#gathered()
    if (gathered >= this.#maxUnwritten) void this.#flush()
    else if (this.#timer === undefined || (this.#timerIsIdle && gathered > 0)) {
      this.#timer?.cancel()
      this.#timerIsIdle = gathered === 0
      this.#timer = this.#clock.setTimer(
        () => void this.#flush(),
        this.#timerIsIdle ? IDLE_FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS,
      )
    }
  }

  #gathered(): number {
    let sum = 0
    for (const outcomes of this.#dirty) sum += outcomes.unwritten
    return sum
  }

  /** Runs one flush at a time. A failed flush is retried unchanged before any newer one. */
  #flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#flushing = this.#writeDirty().finally(() => {
      this.#flushing = undefined
      if (this.#dirty.size > 0) this.#planFlush()
    })
    return this.#flushing
  }

  async #writeDirty(): Promise<void> {
    const parts = [...this.#dirty].map((outcomes) => ({ outcomes, taken: outcomes.take() }))
    this.#dirty.clear()
    const underWay = this.#underWay
    const rested = underWay?.state.isRecorded === true ? [{ partition: underWay.partition }] : []
    const letters = await this.#writeAll(flushOf(parts, rested), parts)
    // Listeners learn of an outcome only when it is on disk.
    if (letters === undefined) return
    // The note is gone, or belongs to another owner of the shard.
    if (rested.length > 0 && this.#underWay === underWay) this.#underWay = undefined
    const lanes = new Set<WokenLane>()
    for (const { outcomes, taken } of parts) {
      for (const waiting of outcomes.flushed(taken.count)) lanes.add(waiting)
      if (taken.count > 0) lanes.add(outcomes)
    }
    for (const { outcomes, taken } of parts) {
      outcomes.written(taken.journeyEvents)
      const count = letters.get(outcomes.destinationId)
      if (count !== undefined) outcomes.onInternalErrors(count)
    }
    for (const outcomes of lanes) outcomes.onPersisted()
  }

  /**
   * @returns when the flush is on disk: by destination, the events whose outcome could not be written. Undefined if
   * writing has stopped.
   */
  async #writeAll(flush: Flush, parts: Parts): Promise<ReadonlyMap<string, number> | undefined> {
    const letters = new Map<string, number>()
    let rest = flush
    for (let replacements = 0; ; ) {
      try {
        const answer = await this.#options.write(rest)
        if (this.#trouble !== undefined) this.#logger.info({}, 'outcomes can be written again')
        this.#trouble = undefined
        if (answer.kind === 'written') return letters
        if (answer.kind === 'fenced') {
          rest = this.#withoutLost(rest, answer.shards)
          continue
        }
        const refused = answer.rows
        if (++replacements > MAX_REPLACEMENTS) throw new Error(`outcomes cannot be written: ${refused[0]!.cause}`)
        this.#tellOfRefused(rest, refused)
        const replaced = await withoutRefused(
          rest,
          refused,
          (id, places) => readAccepted(parts, id, places),
          this.#clock.now(),
        )
        for (const [id, count] of replaced.letters) letters.set(id, (letters.get(id) ?? 0) + count)
        rest = replaced.flush
      } catch (error) {
        if (replacements > MAX_REPLACEMENTS) this.fail(error as Error)
        if (this.#fault !== undefined) return undefined
        if (this.#trouble === undefined) {
          this.#logger.error({ cause: (error as Error).message }, 'outcomes cannot be written; delivery is paused')
        }
        this.#trouble = (error as Error).message
        if (this.#isClosing) {
          this.#fault = error as Error
          return undefined
        }
        await new Promise<void>((resolve) => this.#clock.setTimer(resolve, RETRY_INTERVAL_MS))
      }
    }
  }

  /** The owner of the lost shards drops their lanes; the outcomes of the other shards are written. */
  #withoutLost(flush: Flush, shards: readonly number[]): Flush {
    const { fence } = this.#options
    if (fence === undefined) throw new Error('a store without a fence cannot lose shards')
    fence.onFenced(shards)
    return withoutPartitions(flush, (partition) => shards.includes(fence.shardOf(partition)))
  }

  #tellOfRefused(flush: Flush, refused: readonly RefusedRow[]): void {
    for (const { part, at, cause } of refused.slice(0, MAX_LOGGED)) {
      const { destinationId, offset, index } = flush[part][at] as Partial<Flush['journeys'][number]>
      const fields = { destinationId, part, offset, index, cause, reason: INTERNAL_ERROR }
      this.#logger.error(fields, 'an outcome cannot be written because of its content')
    }
    if (refused.length > MAX_LOGGED) {
      this.#logger.error(
        { rows: refused.length - MAX_LOGGED },
        'more outcomes cannot be written because of their content',
      )
    }
  }
}

type Parts = readonly { outcomes: LaneOutcomes; taken: ReturnType<LaneOutcomes['take']> }[]

async function readAccepted(parts: Parts, destinationId: string, places: readonly EventPlace[]) {
  const of = parts.find(({ outcomes }) => outcomes.destinationId === destinationId)
  return of === undefined ? places.map(() => undefined) : of.outcomes.readAccepted(places)
}

function flushOf(parts: Parts, rested: Flush['rested']): Flush {
  return {
    blocks: parts.flatMap(({ taken }) => taken.blocks),
    journeys: parts.flatMap(({ taken }) => taken.journeys),
    replaced: parts.flatMap(({ taken }) => taken.replaced),
    deadLetters: parts.flatMap(({ taken }) => taken.deadLetters),
    replayed: parts.flatMap(({ taken }) => taken.replayed),
    versions: parts.flatMap(({ taken }) => taken.versions),
    delivered: parts.flatMap(({ taken }) => taken.delivered),
    positions: parts.flatMap(({ outcomes }) => outcomes.takePositions()),
    rested,
  }
}
