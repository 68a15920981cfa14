import type { EventLog, OffsetRange } from '@millrace/log'
import type { Clock, Logger, Timer } from '@millrace/std'

const INTERVAL_MS = 5_000

export interface LogBudgetOptions {
  readonly log: EventLog
  readonly clock: Clock
  readonly logger: Logger
  /** 0: no limit. */
  readonly maxBytes: number
  /** Whether free space is under twice the floor below which the server stops accepting events; absent: never. */
  readonly isDiskShort: (() => boolean) | undefined
  /**
   * By partition, the offset that every reader of all records has passed; after this call a restart knows it, too.
   * Infinity if there are no more records.
   */
  readonly readUpTo: () => Promise<readonly number[]>
  /** Copies the records of a range that are still needed. @returns their number. */
  readonly keepUnfinished: (partition: number, range: OffsetRange) => Promise<number>
}

/**
 * While the log is too large, or the disk is short of space, deletes its oldest segments early. The events that some
 * destination still needs are first copied into the backlog.
 *
 * @see contracts/ingest.md §9 "Log retention" [D145]
 */
export class LogBudget {
  readonly #options: LogBudgetOptions
  #timer: Timer | undefined
  #working: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: LogBudgetOptions) {
    this.#options = options
  }

  start(): void {
    const { maxBytes, isDiskShort } = this.#options
    if (this.#isStopped || (maxBytes === 0 && isDiskShort === undefined)) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.#working = this.#tidy()
        .catch((error: Error) =>
          this.#options.logger.error({ cause: error.message }, 'segments of the log cannot be deleted early; retrying'),
        )
        .then(() => this.start())
    }, INTERVAL_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#working
  }

  get #isTooLarge(): boolean {
    const { log, maxBytes, isDiskShort } = this.#options
    return (maxBytes > 0 && log.sizeBytes() > maxBytes) || isDiskShort?.() === true
  }

  async #tidy(): Promise<void> {
    while (this.#isTooLarge && !this.#isStopped && (await this.#deleteOldest())) {}
  }

  /** Deletes the oldest storage unit of the log, which may hold records of every partition. @returns whether it could. */
  async #deleteOldest(): Promise<boolean> {
    const { log, logger, readUpTo, keepUnfinished } = this.#options
    const unit = await log.oldestUnit(0)
    if (unit === undefined || (await readUpTo()).some((offset) => offset < unit.to)) return false
    let kept = 0
    for (let partition = 0; partition < log.partitions; partition++) kept += await keepUnfinished(partition, unit)
    // Only now: the other partitions may have allowed the deletion before.
    for (let partition = 0; partition < log.partitions; partition++) await log.retain(partition, unit.to, 0)
    // A backup, or a jump of the clock, may have suspended retention.
    if ((await log.oldestUnit(0))?.from === unit.from) return false
    logger.info({ ...unit, kept }, 'a segment was deleted early')
    return true
  }
}
