import { type EventRecord, encodedSize, encodeRecord, eventCount } from '@millrace/protocol'
import { type Dedup, forEachDedupKey, MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import type {
  Append,
  EventLog,
  FramedResult,
  LogWriter,
  Offset,
  OffsetRange,
  ReadResult,
  StoredRecord,
  Stream,
  Tally,
} from '../event-log.ts'
import { duplicateBytes, type FramedRecord, frame } from '../frames.ts'
import { addToTally } from '../tally.ts'

interface Partition {
  /** A record's offset is its index. */
  readonly records: (StoredRecord & { readonly stream: Stream; readonly size: number })[]
  end: Offset
}

/** An in-memory event log with any number of partitions, for tests. */
export class MemoryEventLog implements EventLog, LogWriter {
  readonly partitions: number
  readonly homes: number
  readonly #partitions: Partition[]
  readonly #commitListeners = new Set<(partition: number, stream: Stream) => void>()

  /** Last acceptance time by deduplication key, for windows and attempts. */
  readonly #known = new Map<string, number>()

  constructor(partitions = 1) {
    this.partitions = partitions
    this.homes = this.partitions
    this.#partitions = Array.from({ length: partitions }, () => ({ records: [], end: 0 }))
  }

  async append(number: number, stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset> {
    const partition = this.#partitions[number]
    if (partition === undefined) throw new RangeError(`no partition ${number}`)
    const offset = partition.end++
    const stored = { header: record.header, body: record.body, offset, stream, size: encodedSize(record) }
    const duplicates = dedup === undefined ? NONE : this.#decide(record, dedup)
    partition.records.push(duplicates.length === 0 ? stored : { ...stored, duplicates: new Set(duplicates) })
    if (duplicates.length > 0) dedup?.onDuplicates?.(duplicates)
    for (const listener of this.#commitListeners) listener(number, stream)
    return offset
  }

  appendAll(appends: readonly Append[]): Promise<Offset[]> {
    return Promise.all(
      appends.map(({ partition, stream, record, dedup }) => this.append(partition, stream, record, dedup)),
    )
  }

  #decide(record: EventRecord, dedup: Dedup): number[] {
    const windowMs = 'windowMs' in dedup ? dedup.windowMs : dedup.attempt === 'repeat' ? MAX_DEDUP_WINDOW_MS : 0
    const { acceptedAt } = record.header
    const duplicates: number[] = []
    forEachDedupKey(record.header, (low, high, index) => {
      const key = `${low} ${high}`
      const isDuplicate = acceptedAt - (this.#known.get(key) ?? Number.NEGATIVE_INFINITY) < windowMs
      if (isDuplicate) duplicates.push(index)
      else this.#known.set(key, acceptedAt)
    })
    return duplicates
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

  async readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    const { records } = this.#partitions[partition]!
    const found: FramedRecord[] = []
    let left = maxBytes
    let at = Math.min(before, records.length)
    for (; at > 0; at--) {
      const record = records[at - 1]!
      if (found.length > 0 && record.size > left) break
      found.push(framed(record))
      left -= record.size
    }
    return { frames: frame(found), next: at }
  }

  async scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    const { records, end } = this.#partitions[partition]!
    const found: FramedRecord[] = []
    let left = maxBytes
    for (const record of records.slice(from)) {
      if (found.length > 0 && record.size > left) break
      found.push(framed(record))
      left -= record.size
    }
    return { frames: frame(found), next: found.length === 0 ? Math.max(from, end) : from + found.length }
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const { records } = this.#partitions[partition]!
    return offsets.map((offset) => records[offset])
  }

  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const tally: Tally = new Map()
    for (const record of this.#partitions[partition]!.records.slice(range.from, range.to)) {
      if (record.stream !== stream) continue
      const events = eventCount(record.header) - (record.duplicates?.size ?? 0)
      addToTally(tally, record.header.sourceId, events, record.size)
    }
    return tally
  }

  async oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    const record = this.#partitions[partition]!.records[0]
    return record && { offset: record.offset, acceptedAt: record.header.acceptedAt }
  }

  async deletedBefore(): Promise<Offset> {
    return 0
  }

  async oldestUnit(): Promise<undefined> {}

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

function framed(record: StoredRecord & { readonly size: number }): FramedRecord {
  const bytes = Buffer.alloc(record.size)
  encodeRecord(record, bytes, 0)
  const { offset, duplicates } = record
  return duplicates === undefined ? { offset, bytes } : { offset, bytes, duplicates: duplicateBytes(duplicates) }
}

const NONE: readonly number[] = []
