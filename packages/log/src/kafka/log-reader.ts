import { type Clock, ReleasingMap } from '@millrace/std'
import { LogUnavailableError, type Offset, type OffsetRange } from '../event-log.ts'
import type { FramedRecord } from '../frames.ts'
import { ChunkCache } from './chunk-cache.ts'
import type { KafkaConnections } from './connections.ts'
import { type Fetched, fetchRecords } from './fetch.ts'
import { CODES, codeName, isPassing } from './kafka-errors.ts'
import { listOffsets, type OffsetQuestion } from './offsets.ts'
import type { PartitionPlaces } from './partition-places.ts'
import { indexFrom, type RecordChunk } from './record-chunk.ts'
import type { TailFollower } from './tail-follower.ts'

/** A read without an answer ends after this time, and its reader tries again. */
const DEADLINE_MS = 10_000
const RETRY_MS = 250
/** Size of a fetch away from the end: small reads that follow are served from memory. */
const FETCH_BYTES = 1024 * 1024
const FETCH_WAIT_MS = 100
/** Before the size of its records is known, a partition is read back in steps of this many records. */
const FIRST_STEP_BACK = 256

export interface LogReaderOptions {
  readonly connections: KafkaConnections
  readonly places: PartitionPlaces
  readonly clock: Clock
  readonly follower: TailFollower
  /** Memory for the chunks of far reads. */
  readonly cacheBytes: number
  readonly ends: readonly Offset[]
  readonly firsts: readonly Offset[]
  /** Called each time that an answer of a broker shows a later end: waiting readers need every call. */
  readonly onMoved: (partition: number) => void
}

/** A part of a partition, in order; `next` continues in the direction of the read. */
export interface ReadPart {
  readonly records: readonly FramedRecord[]
  readonly next: Offset
  /** Offsets that retention deleted before they were read. */
  readonly gap?: OffsetRange
}

/**
 * Reads partitions at any offset: from the follower's records at the end of the log, else from what was read before, else
 * from the leader. It also knows where each partition begins and ends.
 */
export class LogReader {
  readonly #options: LogReaderOptions
  readonly #far: ChunkCache
  readonly #ends: Offset[]
  readonly #firsts: Offset[]
  /** Far reads that are under way, so that readers at the same place share one. */
  readonly #underWay = new ReleasingMap<string, Promise<RecordChunk>>()
  /** By partition, for steps back. */
  readonly #recordBytes = new Map<number, number>()
  #isClosed = false

  constructor(options: LogReaderOptions) {
    this.#options = options
    this.#far = new ChunkCache(options.cacheBytes)
    this.#ends = [...options.ends]
    this.#firsts = [...options.firsts]
  }

  end(partition: number): Offset {
    return this.#ends[partition]!
  }

  first(partition: number): Offset {
    return this.#firsts[partition]!
  }

  /** A leader reported the end and the first offset of a partition. */
  note(partition: number, end: Offset, first: Offset): void {
    if (first > this.#firsts[partition]!) this.#firsts[partition] = first
    if (end <= this.#ends[partition]!) return
    this.#ends[partition] = end
    this.#options.onMoved(partition)
  }

  /** Asks the leaders where partitions begin or end now. @throws LogUnavailableError */
  async refresh(partitions: readonly number[], question: 'end' | 'first'): Promise<void> {
    for (const [partition, offset = 0] of await this.#list(partitions, question)) {
      if (question === 'end') this.note(partition, offset, 0)
      else this.note(partition, 0, offset)
    }
  }

  /** The first record that the broker stored at or after a time; the end if there is none. @throws LogUnavailableError */
  async storedFrom(partition: number, time: number): Promise<Offset> {
    // The end comes first: a record that is appended between the two questions is not passed over.
    await this.refresh([partition], 'end')
    const end = this.end(partition)
    return (await this.#list([partition], { storedFrom: time })).get(partition) ?? end
  }

  /** @throws LogUnavailableError */
  async forward(partition: number, from: Offset, maxBytes: number): Promise<ReadPart> {
    const start = Math.max(from, this.first(partition))
    if (start >= this.end(partition) && !(await this.#isPassed(partition, start)))
      return this.#part(partition, from, [], start)
    const chunk = await this.#chunkAt(partition, start)
    const records: FramedRecord[] = []
    let left = maxBytes
    for (let i = indexFrom(chunk, start); i < chunk.records.length; i++) {
      const record = chunk.records[i]!
      if (records.length > 0 && record.bytes.length > left) break
      records.push(record)
      left -= record.bytes.length
    }
    const last = records.at(-1)
    return this.#part(partition, from, records, last === undefined ? chunk.next : last.offset + 1)
  }

  /** Newest first; `next` is 0 at the beginning. @throws LogUnavailableError */
  async backward(partition: number, before: Offset, maxBytes: number): Promise<ReadPart> {
    const records: FramedRecord[] = []
    let left = maxBytes
    let at = Math.min(before, this.end(partition))
    while (at > this.first(partition)) {
      const chunk = this.#cached(partition, at - 1) ?? (await this.#chunkBefore(partition, at))
      for (let i = indexFrom(chunk, at) - 1; i >= 0; i--) {
        const record = chunk.records[i]!
        if (records.length > 0 && record.bytes.length > left) return { records, next: records.at(-1)!.offset }
        records.push(record)
        left -= record.bytes.length
      }
      at = Math.min(at, chunk.from)
    }
    return { records, next: 0 }
  }

  /** @throws LogUnavailableError */
  async get(partition: number, offset: Offset): Promise<FramedRecord | undefined> {
    if (offset >= this.end(partition)) await this.refresh([partition], 'end')
    if (offset >= this.end(partition) || offset < this.first(partition)) return undefined
    const chunk = await this.#chunkAt(partition, offset)
    const record = chunk.records[indexFrom(chunk, offset)]
    return record?.offset === offset ? record : undefined
  }

  close(): void {
    this.#isClosed = true
    this.#options.connections.close()
  }

  #part(partition: number, from: Offset, records: readonly FramedRecord[], next: Offset): ReadPart {
    const first = this.first(partition)
    const isCut = from < first && (records[0]?.offset ?? next) >= first
    return isCut ? { records, next, gap: { from, to: first } } : { records, next }
  }

  /**
   * Whether there are records at an offset beyond the end that this process knows. A reader beyond the real end would wait
   * until new records pass it, and miss them: that is an error.
   */
  async #isPassed(partition: number, from: Offset): Promise<boolean> {
    if (from === this.end(partition)) return false
    await this.refresh([partition], 'end')
    const end = this.end(partition)
    if (from > end) {
      throw new LogUnavailableError(
        `partition ${partition} ends at ${end}, but its reader is at ${from}: Kafka lost records`,
      )
    }
    return from < end
  }

  #cached(partition: number, offset: Offset): RecordChunk | undefined {
    return this.#options.follower.cache.find(partition, offset) ?? this.#far.find(partition, offset)
  }

  /** The chunk that an offset is in, or that begins after it. */
  async #chunkAt(partition: number, offset: Offset): Promise<RecordChunk> {
    const { follower, clock } = this.#options
    for (const deadline = clock.monotonic() + DEADLINE_MS; ; ) {
      const chunk = this.#cached(partition, offset)
      if (chunk !== undefined) return chunk
      const position = follower.position(partition)
      if (position === undefined || offset < position) return this.#fetchOnce(partition, offset)
      // The follower's fetch is on its way with these records.
      const left = deadline - clock.monotonic()
      if (left <= 0 || !(await follower.moved(partition, left))) {
        const cause = follower.trouble ?? 'the leader does not answer'
        throw new LogUnavailableError(`partition ${partition} cannot be read: ${cause}`)
      }
    }
  }

  /** A chunk with the record before an offset, which reaches as far back as one fetch allows. */
  async #chunkBefore(partition: number, offset: Offset): Promise<RecordChunk> {
    const size = this.#recordBytes.get(partition)
    let step = size === undefined ? FIRST_STEP_BACK : Math.max(1, Math.floor((FETCH_BYTES * 0.75) / size))
    for (;;) {
      const start = Math.max(this.first(partition), offset - step)
      const chunk = await this.#fetchOnce(partition, start)
      if (chunk.next >= offset || chunk.from >= offset) return chunk
      // The records are larger than estimated. A fetch that begins with the record itself always has it.
      step = Math.min(step - 1, Math.max(1, Math.floor((chunk.next - start) / 2)))
    }
  }

  #fetchOnce(partition: number, from: Offset): Promise<RecordChunk> {
    const key = `${partition} ${from}`
    const known = this.#underWay.get(key)
    if (known !== undefined) return known
    const fetching = this.#fetch(partition, from).finally(() => {
      void this.#underWay.take(key)
    })
    this.#underWay.add(key, fetching)
    return fetching
  }

  async #fetch(partition: number, offset: Offset): Promise<RecordChunk> {
    const { connections, places, clock } = this.#options
    const { topic, index } = places.placeOf(partition)
    const limits = { maxWaitMs: FETCH_WAIT_MS, maxBytes: FETCH_BYTES }
    let from = offset
    let cause = 'there is no leader'
    for (const deadline = clock.monotonic() + DEADLINE_MS; clock.monotonic() < deadline && !this.#isClosed; ) {
      const leader = connections.leader(topic, index)
      let fetched: Fetched | undefined
      if (leader !== undefined) {
        try {
          const wanted = [{ partition, from, maxBytes: FETCH_BYTES }]
          fetched = (await fetchRecords(connections, places, leader, wanted, limits))[0]
        } catch (error) {
          cause = (error as Error).message
        }
      }
      if (fetched?.code === 0) {
        this.note(partition, fetched.end, fetched.first)
        if (fetched.chunk !== undefined && fetched.chunk.next > from) return this.#keep(partition, fetched.chunk)
        // A new leader may not know yet how far its followers are.
        cause = `the leader shows no record at ${from}`
        continue
      }
      if (fetched !== undefined) {
        cause = codeName(fetched.code)
        if (fetched.code === CODES.offsetOutOfRange) {
          await this.refresh([partition], 'first')
          if (from >= this.first(partition)) break
          from = this.first(partition)
          // The topic has deleted everything.
          if (from >= this.end(partition)) return { from, next: from, records: [], bytes: 0 }
          continue
        }
        if (!isPassing(fetched.code)) break
      }
      await this.#pause()
      await connections.refresh(places.topics).catch(() => {})
    }
    throw new LogUnavailableError(
      `partition ${partition} cannot be read at ${from}: ${this.#isClosed ? 'the log is closed' : cause}`,
    )
  }

  #keep(partition: number, chunk: RecordChunk): RecordChunk {
    if (chunk.records.length > 0) this.#recordBytes.set(partition, Math.max(1, chunk.bytes / chunk.records.length))
    this.#far.add(partition, chunk)
    return chunk
  }

  async #list(partitions: readonly number[], question: OffsetQuestion): Promise<Map<number, Offset | undefined>> {
    const { connections, places, clock } = this.#options
    try {
      return await listOffsets(connections, places, partitions, question, clock)
    } catch (error) {
      throw new LogUnavailableError((error as Error).message, { cause: error })
    }
  }

  #pause(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new LogUnavailableError('the log is closed'))
    return new Promise((resolve) => this.#options.clock.setTimer(resolve, RETRY_MS))
  }
}
