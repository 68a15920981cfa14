import { type Clock, ThreadCalls, type Timer } from '@millrace/std'
import type { DeliveryCalls, DeliveryThreadData, Flush, PositionWrite } from './calls.ts'
import { FLUSH_OUTCOMES, LaneOutcomes } from './lane-outcomes.ts'

const FLUSH_INTERVAL_MS = 20
const RETRY_INTERVAL_MS = 1_000
/** Positions that moved without an outcome are written this late: a crash only reads a little again. */
const IDLE_FLUSH_INTERVAL_MS = 5_000

export interface DeliveryStoreOptions {
  /** Made if it is missing. */
  readonly file: string
  readonly clock: Clock
  readonly logger: { error(fields: object, text: string): void; info(fields: object, text: string): void }
}

/**
 * The durable side of delivery: positions, outcomes, waits, dead letters and the messageId index, in one SQLite database
 * that a thread of its own writes. Outcomes go there every 20 ms or 1,000 outcomes, together with the positions behind them.
 *
 * @see contracts/delivery.md §11
 */
export class DeliveryStore {
  readonly file: string
  readonly #clock: Clock
  readonly #logger: DeliveryStoreOptions['logger']
  readonly #thread: ThreadCalls<DeliveryCalls>
  readonly #dirty = new Set<LaneOutcomes>()
  #timer: Timer | undefined
  #timerIsIdle = false
  #isFlushing = false
  #isClosing = false
  #trouble: string | undefined

  /** @throws NewerSchemaError (`code` NEWER_SCHEMA) for a database of a later version. */
  static async open(options: DeliveryStoreOptions): Promise<DeliveryStore> {
    const data: DeliveryThreadData = { file: options.file }
    const thread = new ThreadCalls<DeliveryCalls>({
      file: new URL('./thread.ts', import.meta.url),
      name: 'delivery',
      data,
    })
    try {
      await thread.call('open', undefined)
      return new DeliveryStore(options, thread)
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  private constructor(options: DeliveryStoreOptions, thread: ThreadCalls<DeliveryCalls>) {
    this.file = options.file
    this.#clock = options.clock
    this.#logger = options.logger
    this.#thread = thread
  }

  /** Reads and rare writes; each is whole on disk when it resolves. */
  call<Name extends Exclude<keyof DeliveryCalls & string, 'open' | 'flush' | 'close'>>(
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

  /** Why outcomes cannot be written at the moment. */
  trouble(): string | undefined {
    return this.#trouble
  }

  /** Writes what is gathered; resolves when all of it is on disk, or with the error that prevents it. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#isFlushing) await new Promise((resolve) => setImmediate(resolve))
    if (this.#dirty.size > 0) await this.#flush()
  }

  /** Writes the last outcomes and closes the database. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      await this.flush()
    } finally {
      this.#timer?.cancel()
      await this.#thread.call('close', undefined).catch(() => {})
      await this.#thread.stop()
    }
  }

  #planFlush(): void {
    if (this.#isFlushing) return
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
  async #flush(): Promise<void> {
    this.#isFlushing = true
    const parts = [...this.#dirty].map((outcomes) => ({ outcomes, taken: outcomes.take() }))
    this.#dirty.clear()
    const flush = flushOf(parts)
    while (!(await this.#write(flush)) && !this.#isClosing) {
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, RETRY_INTERVAL_MS))
    }
    this.#isFlushing = false
    for (const { outcomes, taken } of parts) {
      outcomes.unpersisted -= taken.count
      if (taken.count > 0) outcomes.onPersisted()
    }
    if (this.#dirty.size > 0) this.#planFlush()
  }

  async #write(flush: Flush): Promise<boolean> {
    try {
      await this.#thread.call('flush', flush)
      if (this.#trouble !== undefined) this.#logger.info({}, 'outcomes can be written again')
      this.#trouble = undefined
      return true
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      // The thread is gone for good: the process is being stopped, or beyond help.
      if (code === 'THREAD_ENDED') return true
      if (this.#trouble === undefined)
        this.#logger.error({ cause: message }, 'outcomes cannot be written; delivery waits')
      this.#trouble = message
      return false
    }
  }
}

type Parts = readonly { outcomes: LaneOutcomes; taken: ReturnType<LaneOutcomes['take']> }[]

function flushOf(parts: Parts): Flush {
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
  }
}
