import type { BacklogStore, KeptRecord } from '@millrace/delivery'
import {
  addToTally,
  type FramedResult,
  knownRecords,
  type LogReader,
  type Offset,
  type OffsetRange,
  type ReadResult,
  recordOf,
  STREAMS,
  type StoredRecord,
  type Stream,
  type Tally,
} from '@millrace/log'

/**
 * The log as delivery sees it: records that the log deleted early, and that some destination still needs, are read from
 * the backlog. In each partition the backlog comes before the log.
 */
export class BackedLog implements LogReader {
  readonly partitions: number
  readonly homes: number
  readonly #log: LogReader
  readonly #store: BacklogStore
  /** By partition: first offset in the backlog, and the offset after the last. */
  readonly #kept = new Map<number, OffsetRange>()

  constructor(log: LogReader, store: BacklogStore) {
    this.partitions = log.partitions
    this.homes = log.homes
    this.#log = log
    this.#store = store
  }

  /** Loads the bounds of the backlog; call it before the first read, and after each change. */
  async refresh(): Promise<void> {
    const ranges = await this.#store.keptRanges()
    this.#kept.clear()
    for (const { partition, from, to } of ranges) this.#kept.set(partition, { from, to })
  }

  /** The bounds of a partition's backlog; undefined if it is empty. */
  kept(partition: number): OffsetRange | undefined {
    return this.#kept.get(partition)
  }

  async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    if (from < (this.#kept.get(partition)?.to ?? 0)) {
      const request = { partition, stream: STREAMS.indexOf(stream), from, maxBytes }
      const records = knownRecords((await this.#store.readKept(request)).map(framed))
      const last = records.at(-1)
      if (last !== undefined) return { records, next: last.offset + 1 }
    }
    return this.#log.read(partition, stream, from, maxBytes)
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const records = await this.#log.get(partition, offsets)
    const to = this.#kept.get(partition)?.to ?? 0
    const missing = offsets.filter((offset, i) => records[i] === undefined && offset < to)
    if (missing.length === 0) return records
    const kept = await this.#store.getKept({ partition, offsets: missing })
    const found = new Map(kept.map((record) => [record.offset, recordOf(framed(record))]))
    return records.map((record, i) => record ?? found.get(offsets[i]!))
  }

  async tally(partition: number, stream: Stream, range: OffsetRange): Promise<Tally> {
    const keptTo = this.#kept.get(partition)?.to ?? 0
    if (range.from >= keptTo) return this.#log.tally(partition, stream, range)
    // The log of a cluster still holds what was copied.
    const sum: Tally = new Map()
    const kept = await this.#store.tallyKept({
      ...{ partition, stream: STREAMS.indexOf(stream) },
      ...{ from: range.from, to: Math.min(range.to, keptTo) },
    })
    const tally = range.to <= keptTo ? [] : await this.#log.tally(partition, stream, { from: keptTo, to: range.to })
    for (const [sourceId, { events, bytes }] of [...tally, ...kept]) addToTally(sum, sourceId, events, bytes)
    return sum
  }

  readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    return this.#log.readBack(partition, before, maxBytes)
  }

  scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    return this.#log.scan(partition, from, maxBytes)
  }

  oldest(partition: number): ReturnType<LogReader['oldest']> {
    return this.#log.oldest(partition)
  }

  end(partition: number): Offset {
    return this.#log.end(partition)
  }

  onCommit(listener: Parameters<LogReader['onCommit']>[0]): () => void {
    return this.#log.onCommit(listener)
  }

  onDamage(listener: Parameters<LogReader['onDamage']>[0]): () => void {
    return this.#log.onDamage(listener)
  }
}

function framed({ offset, bytes, duplicates }: KeptRecord): Parameters<typeof recordOf>[0] {
  return { offset, bytes, ...(duplicates === null ? {} : { duplicates }) }
}
