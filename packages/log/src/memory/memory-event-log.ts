import { type EventRecord, encodedSize, encodeRecord, eventCount, hash53 } from '@millrace/protocol'
import type {
  BackReadResult,
  EventLog,
  Offset,
  OffsetRange,
  ReadResult,
  StoredRecord,
  Stream,
  Tally,
} from '../event-log.ts'
import { frame } from '../frames.ts'
import { addToTally } from '../tally.ts'

interface Partition {
  /** A record's offset is its index. */
  readonly records: (StoredRecord & { readonly stream: Stream; readonly size: number })[]
  end: Offset
}

/** The event log without durability, at any number of partitions: for tests, and for trying the readers of a cluster. */
export class MemoryEventLog implements EventLog {
  readonly partitions: number
  readonly #partitions: Partition[]
  readonly #commitListeners = new Set<(partition: number, stream: Stream) => void>()

  constructor(partitions = 1) {
    this.partitions = partitions
    this.#partitions = Array.from({ length: partitions }, () => ({ records: [], end: 0 }))
  }

  partitionOf(sourceId: string): number {
    return hash53(sourceId) % this.partitions
  }

  async append(stream: Stream, record: EventRecord): Promise<Offset> {
    const number = this.partitionOf(record.header.sourceId)
    const partition = this.#partitions[number]!
    const offset = partition.end++
    partition.records.push({ header: record.header, body: record.body, offset, stream, size: encodedSize(record) })
    for (const listener of this.#commitListeners) listener(number, stream)
    return offset
  }

  async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    const { records, end } = this.#partitions[partition]!
    const found: StoredRecord[] = []
    let bytes = 0
    for (const record of records.slice(from)) {
      if (record.stream !== stream) continue
      if (found.length > 0 && bytes + record.size > maxBytes) return { records: found, next: record.offset }
      found.push(record)
      bytes += record.size
    }
    return { records: found, next: Math.max(from, end) }
  }

  async readBack(partition: number, before: Offset, maxBytes: number): Promise<BackReadResult> {
    const { records } = this.#partitions[partition]!
    const found: { offset: Offset; bytes: Buffer }[] = []
    let left = maxBytes
    let at = Math.min(before, records.length)
    for (; at > 0; at--) {
      const record = records[at - 1]!
      if (found.length > 0 && record.size > left) break
      const bytes = Buffer.alloc(record.size)
      encodeRecord(record, bytes, 0)
      found.push({ offset: record.offset, bytes })
      left -= record.size
    }
    return { frames: frame(found), next: at }
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const { records } = this.#partitions[partition]!
    return offsets.map((offset) => records[offset])
  }

  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const tally: Tally = new Map()
    for (const record of this.#partitions[partition]!.records.slice(range.from, range.to)) {
      if (record.stream !== stream) continue
      addToTally(tally, record.header.sourceId, eventCount(record.header), record.size)
    }
    return tally
  }

  async oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    const record = this.#partitions[partition]!.records[0]
    return record && { offset: record.offset, acceptedAt: record.header.acceptedAt }
  }

  end(partition: number): Offset {
    return this.#partitions[partition]!.end
  }

  onCommit(listener: (partition: number, stream: Stream) => void): () => void {
    this.#commitListeners.add(listener)
    return () => this.#commitListeners.delete(listener)
  }

  damaged(): readonly OffsetRange[] {
    return []
  }

  onDamage(): () => void {
    return () => {}
  }

  async retain(): Promise<void> {}

  async check(): Promise<void> {}

  trouble(): undefined {}

  sizeBytes(): number {
    return 0
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
