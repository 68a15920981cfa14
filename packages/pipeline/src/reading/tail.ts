import type { LogReader, StoredRecord } from '@millrace/log'
import type { Clock, Timer } from '@millrace/std'

const READ_BYTES = 1024 * 1024
const RETRY_MS = 1_000
/** A stall of this length while events wait is shown in /health (contracts/ingest.md §8 [D134]). */
const STALLED_MS = 60_000

/** Reads new records of the live stream once, for all lanes that keep up. */
export class Tail {
  readonly #log: LogReader
  readonly #partitions: readonly number[]
  readonly #onRecords: (partition: number, records: readonly StoredRecord[]) => void
  readonly #onGap: (partition: number) => void
  readonly #onError: (error: Error) => void
  readonly #offsets: number[]
  readonly #isReading: boolean[]
  readonly #clock: Clock
  /** Start of a stall: the partition has new records but does not move; by the monotonic clock. */
  readonly #waitingSince: (number | undefined)[]
  #retryTimer: Timer | undefined
  #stopListening: () => void = () => {}
  #isStopped = false

  /**
   * @param partitions those that it reads.
   * @param offsets where to begin, by partition.
   * @param onGap called before it passes offsets that retention deleted.
   */
  constructor(
    log: LogReader,
    partitions: readonly number[],
    clock: Clock,
    offsets: readonly number[],
    onRecords: (partition: number, records: readonly StoredRecord[]) => void,
    onGap: (partition: number) => void,
    onError: (error: Error) => void,
  ) {
    this.#log = log
    this.#partitions = partitions
    this.#clock = clock
    this.#waitingSince = offsets.map(() => undefined)
    this.#offsets = [...offsets]
    this.#isReading = offsets.map(() => false)
    this.#onRecords = onRecords
    this.#onGap = onGap
    this.#onError = onError
  }

  start(): void {
    this.#stopListening = this.#log.onCommit((partition, stream) => {
      if (stream === 'live' && this.#partitions.includes(partition)) this.#wake(partition)
    })
    for (const partition of this.#partitions) this.#wake(partition)
  }

  /** All records before this offset have been passed on. */
  offset(partition: number): number {
    return this.#offsets[partition]!
  }

  /** Stops passing records on; the offsets stay. */
  stop(): void {
    this.#isStopped = true
    this.#retryTimer?.cancel()
    this.#stopListening()
  }

  /** Why it stalls; undefined if it does not. */
  trouble(): string | undefined {
    const now = this.#clock.monotonic()
    const isStalled = this.#waitingSince.some((since) => since !== undefined && now - since >= STALLED_MS)
    return isStalled ? 'the log reader made no progress for 60 s' : undefined
  }

  #wake(partition: number): void {
    if (this.#isReading[partition] || this.#isStopped) return
    this.#isReading[partition] = true
    this.#waitingSince[partition] ??= this.#clock.monotonic()
    this.#read(partition).catch((error: Error) => {
      this.#isReading[partition] = false
      this.#onError(error)
      this.#retryTimer?.cancel()
      this.#retryTimer = this.#clock.setTimer(() => {
        for (const each of this.#partitions) this.#wake(each)
      }, RETRY_MS)
    })
  }

  async #read(partition: number): Promise<void> {
    for (;;) {
      const { records, next, gap } = await this.#log.read(partition, 'live', this.#offsets[partition]!, READ_BYTES)
      if (this.#isStopped) return
      if (gap !== undefined) this.#onGap(partition)
      if (records.length > 0) this.#onRecords(partition, records)
      this.#offsets[partition] = Math.max(this.#offsets[partition]!, next)
      this.#waitingSince[partition] = records.length === 0 ? undefined : this.#clock.monotonic()
      if (records.length === 0) break
    }
    this.#isReading[partition] = false
    // A commit may have happened between the last read and this line.
    if (this.#log.end(partition) > this.#offsets[partition]!) this.#wake(partition)
  }
}
