import type { EventLog, StoredRecord } from '@millrace/log'

const READ_BYTES = 1024 * 1024

/** Reads what is new in the live stream once for everybody who keeps up. */
export class Tail {
  readonly #log: EventLog
  readonly #onRecords: (partition: number, records: readonly StoredRecord[]) => void
  readonly #onError: (error: Error) => void
  readonly #offsets: number[]
  readonly #isReading: boolean[]
  #stopListening: () => void = () => {}
  #isStopped = false

  /** @param offsets where to begin, by partition. */
  constructor(
    log: EventLog,
    offsets: readonly number[],
    onRecords: (partition: number, records: readonly StoredRecord[]) => void,
    onError: (error: Error) => void,
  ) {
    this.#log = log
    this.#offsets = [...offsets]
    this.#isReading = offsets.map(() => false)
    this.#onRecords = onRecords
    this.#onError = onError
  }

  start(): void {
    this.#stopListening = this.#log.onCommit((partition, stream) => {
      if (stream === 'live') this.#wake(partition)
    })
    for (const partition of this.#offsets.keys()) this.#wake(partition)
  }

  /** Everything before it has been handed out. */
  offset(partition: number): number {
    return this.#offsets[partition]!
  }

  /** Nothing is handed out any more, and the offsets stay where they are. */
  stop(): void {
    this.#isStopped = true
    this.#stopListening()
  }

  #wake(partition: number): void {
    if (this.#isReading[partition] || this.#isStopped) return
    this.#isReading[partition] = true
    this.#read(partition).catch(this.#onError)
  }

  async #read(partition: number): Promise<void> {
    for (;;) {
      const { records, next } = await this.#log.read(partition, 'live', this.#offsets[partition]!, READ_BYTES)
      if (this.#isStopped) return
      if (records.length > 0) this.#onRecords(partition, records)
      this.#offsets[partition] = Math.max(this.#offsets[partition]!, next)
      if (records.length === 0) break
    }
    this.#isReading[partition] = false
    // A commit may have come between the last read and this line.
    if (this.#log.end(partition) > this.#offsets[partition]!) this.#wake(partition)
  }
}
