import type { EventLog, StoredRecord } from '@millrace/log'
import type { Clock, Timer } from '@millrace/std'

const READ_BYTES = 1024 * 1024
const RETRY_MS = 1_000

/**
 * Reads what is new in the stream of backfills once for those who want every record. Destinations read it themselves, as they have
 * room: they only need to know how far it goes.
 */
export class BackfillTail {
  readonly #log: EventLog
  readonly #onRecords: (partition: number, records: readonly StoredRecord[]) => void
  readonly #onError: (error: Error) => void
  readonly #ends: number[]
  readonly #offsets: number[]
  readonly #isReading: boolean[]
  readonly #clock: Clock
  #retryTimer: Timer | undefined
  /** No record of a backfill is at or after it. A function of its own: every lane asks for each event that it has done with. */
  readonly end = (partition: number): number => this.#ends[partition]!

  /** @param ends where the log ends now, by partition: what was sent in before is not read. */
  constructor(
    log: EventLog,
    clock: Clock,
    ends: readonly number[],
    onRecords: (partition: number, records: readonly StoredRecord[]) => void,
    onError: (error: Error) => void,
  ) {
    this.#log = log
    this.#clock = clock
    this.#ends = [...ends]
    this.#offsets = [...ends]
    this.#isReading = ends.map(() => false)
    this.#onRecords = onRecords
    this.#onError = onError
  }

  /** A backfill was added to. */
  moveOn(partition: number): void {
    this.#ends[partition] = this.#log.end(partition)
    void this.#read(partition)
  }

  async #read(partition: number): Promise<void> {
    if (this.#isReading[partition]) return
    this.#isReading[partition] = true
    try {
      while (this.#offsets[partition]! < this.#ends[partition]!) {
        const { records, next } = await this.#log.read(partition, 'backfill', this.#offsets[partition]!, READ_BYTES)
        this.#offsets[partition] = next
        this.#onRecords(partition, records)
      }
    } catch (error) {
      this.#onError(error as Error)
      this.#retryTimer?.cancel()
      this.#retryTimer = this.#clock.setTimer(() => {
        for (const each of this.#offsets.keys()) void this.#read(each)
      }, RETRY_MS)
    }
    this.#isReading[partition] = false
  }

  /** A read that failed is not tried again any more. */
  stop(): void {
    this.#retryTimer?.cancel()
  }
}
