import type { EventLog, StoredRecord } from '@millrace/log'

const READ_BYTES = 1024 * 1024

/**
 * Reads what is new in the import stream once for those who want every record. Destinations read it themselves, as they have
 * room: they only need to know how far it goes.
 */
export class ImportTail {
  readonly #log: EventLog
  readonly #onRecords: (partition: number, records: readonly StoredRecord[]) => void
  readonly #onError: (error: Error) => void
  readonly #ends: number[]
  readonly #offsets: number[]
  readonly #isReading: boolean[]
  /** No imported record is at or after it. A function of its own: every lane asks for each event that it has done with. */
  readonly end = (partition: number): number => this.#ends[partition]!

  /** @param ends where the log ends now, by partition: what was imported before is not read. */
  constructor(
    log: EventLog,
    ends: readonly number[],
    onRecords: (partition: number, records: readonly StoredRecord[]) => void,
    onError: (error: Error) => void,
  ) {
    this.#log = log
    this.#ends = [...ends]
    this.#offsets = [...ends]
    this.#isReading = ends.map(() => false)
    this.#onRecords = onRecords
    this.#onError = onError
  }

  /** Something was imported. */
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
        this.#onRecords(partition, records)
        this.#offsets[partition] = next
      }
    } catch (error) {
      this.#onError(error as Error)
    }
    this.#isReading[partition] = false
  }
}
