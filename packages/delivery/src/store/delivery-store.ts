import { type Clock, ThreadCalls, type Timer } from '@millrace/std'
import type { EventPlace } from '../lane/lane-event.ts'
import type { DeliveryCalls, DeliveryThreadData, Flush, PositionWrite, RefusedRow } from './calls.ts'
import { FLUSH_OUTCOMES, LaneOutcomes } from './outcomes/lane-outcomes.ts'
import { INTERNAL_ERROR, withoutRefused } from './outcomes/replaced-rows.ts'
import type { UnderWay } from './run-table.ts'

const FLUSH_INTERVAL_MS = 20
const RETRY_INTERVAL_MS = 1_000
/** Positions that moved without an outcome are written this late: a crash only reads a little again. */
const IDLE_FLUSH_INTERVAL_MS = 5_000
/** Rows of a flush are replaced: their dead letters can be written, or the fault lies deeper. */
const MAX_REPLACEMENTS = 3
/** Causes that one flush may log. */
const MAX_LOGGED = 10

export interface DeliveryStoreOptions {
  /** Made if it is missing. */
  readonly file: string
  readonly clock: Clock
  readonly logger: { error(fields: object, text: string): void; info(fields: object, text: string): void }
  /** Called once if nothing can be written any more until a restart: the thread has ended, or writes what it is given no more. */
  readonly onFault?: (error: Error) => void
}

/**
 * The durable side of delivery: positions, outcomes, waits, dead letters and the messageId index, in one SQLite database
 * that a thread of its own writes. Outcomes go there every 20 ms or 1,000 outcomes, together with the positions behind them.
 *
 * @see contracts/delivery.md §11
 */
export class DeliveryStore {
  readonly file: string
  readonly #options: DeliveryStoreOptions
  readonly #clock: Clock
  readonly #logger: DeliveryStoreOptions['logger']
  readonly #thread: ThreadCalls<DeliveryCalls>
  readonly #dirty = new Set<LaneOutcomes>()
  #timer: Timer | undefined
  #timerIsIdle = false
  /** Of the flush under way. */
  #flushing: Promise<void> | undefined
  #isClosing = false
  #trouble: string | undefined
  #underWay: { readonly isRecorded: boolean } | undefined
  /** Why nothing is written any more. */
  #fault: Error | undefined

  /** @throws NewerSchemaError (`code` NEWER_SCHEMA) for a database of a later version. */
  static async open(options: DeliveryStoreOptions): Promise<DeliveryStore> {
    const data: DeliveryThreadData = { file: options.file }
    let onEnd: (error: Error) => void = () => {}
    const thread = new ThreadCalls<DeliveryCalls>({
      file: new URL('./thread.ts', import.meta.url),
      name: 'delivery',
      data,
      onEnd: (error) => onEnd(error),
    })
    try {
      await thread.call('open', undefined)
      const store = new DeliveryStore(options, thread)
      onEnd = (error) => store.#fail(error)
      return store
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  private constructor(options: DeliveryStoreOptions, thread: ThreadCalls<DeliveryCalls>) {
    this.file = options.file
    this.#options = options
    this.#clock = options.clock
    this.#logger = options.logger
    this.#thread = thread
  }

  /** Reads and rare writes; each is whole on disk when it resolves. */
  call<Name extends Exclude<keyof DeliveryCalls & string, 'open' | 'flush' | 'noteUnderWay' | 'close'>>(
    name: Name,
    argument: Parameters<DeliveryCalls[Name]>[0],
  ): Promise<ReturnType<DeliveryCalls[Name]>> {
    return this.#thread.call(name, argument) as Promise<ReturnType<DeliveryCalls[Name]>>
  }

  /** Where a destination's lane puts its outcomes. */
  outcomesOf(destinationId: string): LaneOutcomes {
    return new LaneOutcomes(destinationId, (outcomes) => {
      this.#dirty.add(outcomes)
      this.#planFlush()
    })
  }

  /**
   * Notes an event that is to run alone; it is on disk when this resolves. The note goes with the flush that holds what
   * became of the event.
   *
   * @param state says when its outcome, or its wait, is with the store.
   */
  async noteUnderWay(event: UnderWay, state: { readonly isRecorded: boolean }): Promise<void> {
    this.#underWay = undefined
    await this.#thread.call('noteUnderWay', event)
    this.#underWay = state
  }

  /** Why outcomes cannot be written at the moment. */
  trouble(): string | undefined {
    return this.#fault?.message ?? this.#trouble
  }

  /** Writes what is gathered; resolves when all of it is on disk. @throws the fault after which nothing is written any more. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#flushing !== undefined) await this.#flushing
    if (this.#fault === undefined && this.#dirty.size > 0) await this.#flush()
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Writes the last outcomes and closes the database. What cannot be written is delivered again after the next start. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      await this.flush()
    } catch (error) {
      this.#logger.error({ cause: (error as Error).message }, 'the last outcomes are not on disk')
    } finally {
      this.#timer?.cancel()
      await this.#thread.call('close', undefined).catch(() => {})
      await this.#thread.stop()
    }
  }

  #planFlush(): void {
    if (this.#flushing !== undefined || this.#fault !== undefined) return
    const gathered = this.#gathered()
    if (gathered >= FLUSH_OUTCOMES) {
      this.#timer?.cancel()
      this.#timer = undefined
      void this.#flush()
    } else if (this.#timer === undefined || (this.#timerIsIdle && gathered > 0)) {
      this.#timer?.cancel()
      this.#timerIsIdle = gathered === 0
      this.#timer = this.#clock.setTimer(
        () => {
          this.#timer = undefined
          void this.#flush()
        },
        this.#timerIsIdle ? IDLE_FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS,
      )
    }
  }

  #gathered(): number {
    let sum = 0
    for (const outcomes of this.#dirty) sum += outcomes.unpersisted
    return sum
  }

  /** One flush at a time. What could not be written is tried again unchanged before anything newer. */
  #flush(): Promise<void> {
    this.#flushing = this.#writeDirty().finally(() => {
      this.#flushing = undefined
      if (this.#dirty.size > 0) this.#planFlush()
    })
    return this.#flushing
  }

  async #writeDirty(): Promise<void> {
    const parts = [...this.#dirty].map((outcomes) => ({ outcomes, taken: outcomes.take() }))
    this.#dirty.clear()
    const rested: true[] = this.#underWay?.isRecorded === true ? [true] : []
    const letters = await this.#writeAll(flushOf(parts, rested), parts)
    // Nobody is told of an outcome that is not on disk.
    if (letters === undefined) return
    for (const { outcomes, taken } of parts) {
      outcomes.unpersisted -= taken.count
      outcomes.written(taken.journeyEvents)
      const count = letters.get(outcomes.destinationId)
      if (count !== undefined) outcomes.onInternalErrors(count)
      if (taken.count > 0) outcomes.onPersisted()
    }
  }

  /** @returns once it is on disk: events by destination whose outcome could not be written. Undefined if it never will be. */
  async #writeAll(flush: Flush, parts: Parts): Promise<ReadonlyMap<string, number> | undefined> {
    const letters = new Map<string, number>()
    let rest = flush
    for (let replacements = 0; ; ) {
      try {
        const refused = await this.#tryToWrite(rest)
        if (this.#trouble !== undefined) this.#logger.info({}, 'outcomes can be written again')
        this.#trouble = undefined
        if (refused.length === 0) return letters
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
        if (replacements > MAX_REPLACEMENTS) this.#fail(error as Error)
        if (this.#fault !== undefined) return undefined
        if (this.#trouble === undefined) {
          this.#logger.error({ cause: (error as Error).message }, 'outcomes cannot be written; delivery waits')
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

  async #tryToWrite(flush: Flush): Promise<readonly RefusedRow[]> {
    try {
      return await this.#thread.call('flush', flush)
    } catch (error) {
      if ((error as Error).name !== 'DataCloneError') throw error
      return thoseThatCannotCross(flush)
    }
  }

  #tellOfRefused(flush: Flush, refused: readonly RefusedRow[]): void {
    for (const { part, at, cause } of refused.slice(0, MAX_LOGGED)) {
      const { destinationId, offset, index } = flush[part][at] as Partial<Flush['journeys'][number]>
      const fields = { destinationId, part, offset, index, cause, reason: INTERNAL_ERROR }
      this.#logger.error(fields, 'a row of delivery.db cannot be written')
    }
    if (refused.length > MAX_LOGGED) {
      this.#logger.error({ rows: refused.length - MAX_LOGGED }, 'further rows of delivery.db cannot be written')
    }
  }

  /** Nothing is written any more: what is gathered is delivered again after a restart. */
  #fail(error: Error): void {
    if (this.#fault !== undefined) return
    this.#fault = error
    if (!this.#isClosing) this.#options.onFault?.(error)
  }
}

type Parts = readonly { outcomes: LaneOutcomes; taken: ReturnType<LaneOutcomes['take']> }[]

async function readAccepted(parts: Parts, destinationId: string, places: readonly EventPlace[]) {
  const of = parts.find(({ outcomes }) => outcomes.destinationId === destinationId)
  return of === undefined ? places.map(() => undefined) : of.outcomes.readAccepted(places)
}

/** Rows that hold what no message between threads may. */
function thoseThatCannotCross(flush: Flush): RefusedRow[] {
  return (Object.keys(flush) as (keyof Flush)[]).flatMap((part) =>
    flush[part].flatMap((row, at) => {
      try {
        structuredClone(row)
        return []
      } catch (error) {
        return [{ part, at, cause: (error as Error).message }]
      }
    }),
  )
}

function flushOf(parts: Parts, rested: readonly true[]): Flush {
  const positions: PositionWrite[] = []
  for (const { outcomes } of parts) {
    for (const position of outcomes.positions()) positions.push({ reader: outcomes.destinationId, ...position })
  }
  return {
    blocks: parts.flatMap(({ taken }) => taken.blocks),
    journeys: parts.flatMap(({ taken }) => taken.journeys),
    replaced: parts.flatMap(({ taken }) => taken.replaced),
    deadLetters: parts.flatMap(({ taken }) => taken.deadLetters),
    replayed: parts.flatMap(({ taken }) => taken.replayed),
    versions: parts.flatMap(({ taken }) => taken.versions),
    delivered: parts.flatMap(({ taken }) => taken.delivered),
    positions,
    rested,
  }
}
