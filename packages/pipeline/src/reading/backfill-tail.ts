import type { LogReader, StoredRecord } from '@millrace/log'
import type { Clock, Timer } from '@millrace/std'

const READ_BYTES = 1024 * 1024
const RETRY_MS = 1_000

/**
 * Reads each new backfill record once, for those that need every record. Destinations read backfills themselves when they
 * have room: they only need to know the end.
 */
export class BackfillTail {
  readonly #log: LogReader
  readonly #partitions: readonly number[]
  readonly #onRecords: (partition: number, records: readonly StoredRecord[]) => void
  readonly #onError: (error: Error) => void
  readonly #ends: number[]
  readonly #offsets: number[]
  readonly #isReading: boolean[]
  readonly #clock: Clock
  #retryTimer: Timer | undefined
  /** The end of the backfills in a partition. A stable function: every lane calls it for each finished event. */
  readonly end = (partition: number): number => this.#ends[partition]!

  /**
   * @param partitions to read.
   * @param ends the current end of the log, by partition: earlier backfills are not read.
   */
  constructor(
    log: LogReader,
    partitions: readonly number[],
    clock: Clock,
    ends: readonly number[],
    onRecords: (partition: number, records: readonly StoredRecord[]) => void,
    onError: (error: Error) => void,
  ) {
    this.#log = log
    this.#partitions = partitions
    this.#clock = clock
    this.#ends = [...ends]
    this.#offsets = [...ends]
    this.#isReading = ends.map(() => false)
    this.#onRecords = onRecords
    this.#onError = onError
  }

  /** New records were added to the stream. */
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
        for (const each of this.#partitions) void this.#read(each)
      }, RETRY_MS)
    }
    this.#isReading[partition] = false
  }

  /** Stops retrying a failed read. */
  stop(): void {
    this.#retryTimer?.cancel()
  }
}
