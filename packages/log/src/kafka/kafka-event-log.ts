import { type EventRecord, eventCount } from '@millrace/protocol'
import { decodeHashes } from '@millrace/protocol/record'
import type { Clock } from '@millrace/std'
import type { Dedup, DuplicateMarks, RuledRecord, RulesRead } from '../dedup.ts'
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
import { type FramedRecord, frame, knownRecords, recordOf } from '../frames.ts'
import { addToTally } from '../tally.ts'
import { type KafkaAddress, KafkaConnections } from './connections.ts'
import { KafkaWriter } from './kafka-writer.ts'
import { LogReader } from './log-reader.ts'
import { listOffsets } from './offsets.ts'
import type { PartitionPlaces } from './partition-places.ts'
import { type FollowTrouble, TailFollower } from './tail-follower.ts'
import { TopicWatch } from './topic-watch.ts'
import { openTopics, type Topics } from './topics.ts'

const TALLY_BYTES = 1024 * 1024

export interface KafkaEventLogOptions {
  readonly kafka: KafkaAddress
  /** The topics are `<prefix>.live` and `<prefix>.import`. */
  readonly prefix: string
  readonly clock: Clock
  /** Of each topic, used when they are made: 1 to 256. */
  readonly partitions: number
  /** Used when the topics are made. */
  readonly retentionMs: number
  /** Of an encoded record, used when the topics are made. */
  readonly maxRecordBytes: number
  /** Starts with topics that lose records with one broker; see `topicWarning`. Default false. */
  readonly isUnsafeAllowed?: boolean
  /** How long `open` waits for brokers, and for leaders of the topics. Default 20 s. */
  readonly startMs?: number
  /** Default none. */
  readonly compression?: 'none' | 'lz4'
  /** Of the newest records of followed partitions. Default 32 MB. */
  readonly tailCacheBytes?: number
  /** Of records that far reads fetched. Default 16 MB. */
  readonly farCacheBytes?: number
  /** Which events are duplicates, as the owners of the partitions decided. Absent: none is. */
  readonly marks?: DuplicateMarks
}

/**
 * The event log on Kafka, for several processes. Partitions 0 to P−1 hold live events, P to 2P−1 backfills: a backfill of
 * source partition p is in partition p + P.
 *
 * `end` of a partition moves with this process's own appends, with reads, and with every commit while the partition is
 * followed. The brokers delete by age; they also hold the size, so `sizeBytes` is 0.
 *
 * @see contracts/cluster.md §2–3, decision 0102
 */
export class KafkaEventLog implements EventLog, LogWriter {
  readonly partitions: number
  readonly homes: number
  readonly #clock: Clock
  readonly #places: PartitionPlaces
  readonly #watch: TopicWatch
  readonly #writer: KafkaWriter
  readonly #follower: TailFollower
  readonly #reader: LogReader
  readonly #commitListeners = new Set<(partition: number, stream: Stream) => void>()
  /** The first record of a partition does not change until retention deletes it. */
  readonly #oldest = new Map<number, { readonly offset: Offset; readonly acceptedAt: number }>()
  readonly #marks: DuplicateMarks | undefined
  #isClosed = false

  /**
   * Makes the topics where they are missing, and checks them.
   *
   * @throws UnsafeTopicsError if they cannot keep the promise of a 200, unless that is allowed.
   * @throws Error if no broker answers.
   */
  static async open(options: KafkaEventLogOptions): Promise<KafkaEventLog> {
    const connections = new KafkaConnections(options.kafka, options.clock)
    const own = [
      connections,
      new KafkaConnections(options.kafka, options.clock),
      new KafkaConnections(options.kafka, options.clock),
    ]
    try {
      const { isUnsafeAllowed = false, startMs = 20_000 } = options
      const topics = await openTopics(connections, { ...options, isUnsafeAllowed, startMs }, options.clock)
      await Promise.all(own.map((each) => each.refresh(topics.places.topics)))
      const all = Array.from({ length: topics.places.count }, (_, partition) => partition)
      const [ends, firsts] = await Promise.all([
        listOffsets(connections, topics.places, all, 'end', options.clock),
        listOffsets(connections, topics.places, all, 'first', options.clock),
      ])
      const offsets = (of: ReadonlyMap<number, Offset | undefined>) => all.map((partition) => of.get(partition) ?? 0)
      return new KafkaEventLog(options, topics, own, offsets(ends), offsets(firsts))
    } catch (error) {
      for (const each of own) each.close()
      throw error
    }
  }

  private constructor(
    options: KafkaEventLogOptions,
    topics: Topics,
    [connections, writing, following]: readonly KafkaConnections[],
    ends: readonly Offset[],
    firsts: readonly Offset[],
  ) {
    const { clock } = options
    const { places } = topics
    this.partitions = places.count
    this.homes = places.homes
    this.#clock = clock
    this.#places = places
    this.#watch = new TopicWatch(connections!, topics, clock)
    this.#marks = options.marks
    this.#follower = new TailFollower({
      connections: following!,
      places,
      clock,
      cacheBytes: options.tailCacheBytes ?? 32 * 1024 * 1024,
      onFetched: ({ partition, end, first }) => this.#reader.note(partition, end, first),
      end: async (partition) => {
        await this.#reader.refresh([partition], 'end')
        return this.#reader.end(partition)
      },
    })
    const cacheBytes = options.farCacheBytes ?? 16 * 1024 * 1024
    this.#reader = new LogReader({
      connections: connections!,
      places,
      clock,
      follower: this.#follower,
      cacheBytes,
      ends,
      firsts,
      onMoved: (partition) => this.#announce(partition),
    })
    this.#writer = new KafkaWriter({
      connections: writing!,
      topics: () => this.#watch.topics,
      clock,
      compression: options.compression ?? 'none',
      onStored: (partition, end) => this.#reader.note(partition, end, 0),
    })
  }

  /** @param dedup travels with the record: the reader that owns the partition decides in the order of the log. */
  append(home: number, stream: Stream, record: EventRecord, dedup?: Dedup): Promise<Offset> {
    try {
      return this.#writer.append(this.#places.partitionOf(home, stream), record, dedup)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** All go into the same produce, if it has room; the brokers store them by partition. */
  appendAll(appends: readonly Append[]): Promise<Offset[]> {
    return Promise.all(
      appends.map(({ partition, stream, record, dedup }) => this.append(partition, stream, record, dedup)),
    )
  }

  check(): Promise<void> {
    return this.#writer.check()
  }

  trouble(): string | undefined {
    return this.#writer.trouble
  }

  /** What the topics do not promise, as of the last check; undefined: they fulfil the requirements. */
  topicWarning(): string | undefined {
    return this.#watch.warning()
  }

  /** How the brokers delete records, as of the last check of the topics. */
  get retention(): Pick<Topics, 'retentionMs' | 'isSizeBound'> {
    return this.#watch.topics
  }

  /**
   * Reads new records of a partition as they come, once for all readers, and announces them to `onCommit`. Without it this
   * process hears only of its own appends.
   *
   * @returns a function that ends it. @throws LogUnavailableError
   */
  follow(partition: number): Promise<() => void> {
    return this.#follower.follow(partition)
  }

  /** Why the newest records of followed partitions cannot be read, and for how long; undefined: they can. */
  followTrouble(): FollowTrouble | undefined {
    return this.#follower.trouble
  }

  /** Asks the brokers where all partitions end now. @throws LogUnavailableError */
  async readEnds(): Promise<readonly Offset[]> {
    const all = Array.from({ length: this.partitions }, (_, partition) => partition)
    await this.#reader.refresh(all, 'end')
    return all.map((partition) => this.#reader.end(partition))
  }

  /** The first record that the broker stored at or after a time, by its clock; the end if there is none. */
  storedFrom(partition: number, time: number): Promise<Offset> {
    return this.#reader.storedFrom(partition, time)
  }

  async read(partition: number, stream: Stream, from: Offset, maxBytes: number): Promise<ReadResult> {
    if (!this.#holds(partition, stream)) return { records: [], next: Math.max(from, this.end(partition)) }
    const { records: found, next, gap } = await this.#reader.forward(partition, from, maxBytes)
    const records = await this.#marked(partition, found)
    const decoded = knownRecords(records)
    const result = { records: decoded, next: decoded.length < records.length ? decoded.at(-1)!.offset + 1 : next }
    return gap === undefined ? result : { ...result, gap }
  }

  /** As `read`, for the owner of a partition who decides: only the records with a rule, not decoded. */
  async readRules(partition: number, from: Offset, maxBytes: number): Promise<RulesRead> {
    const { records, next } = await this.#reader.forward(partition, from, maxBytes)
    return { records: records.filter((record): record is RuledRecord => record.rule !== undefined), next }
  }

  async readBack(partition: number, before: Offset, maxBytes: number): Promise<FramedResult> {
    const { records, next } = await this.#reader.backward(partition, before, maxBytes)
    return { frames: frame(await this.#marked(partition, records)), next }
  }

  async scan(partition: number, from: Offset, maxBytes: number): Promise<FramedResult> {
    const { records, next } = await this.#reader.forward(partition, from, maxBytes)
    return { frames: frame(await this.#marked(partition, records)), next }
  }

  async get(partition: number, offsets: readonly Offset[]): Promise<(StoredRecord | undefined)[]> {
    const found: (FramedRecord | undefined)[] = []
    for (const offset of offsets) found.push(await this.#reader.get(partition, offset))
    const marked = await this.#marked(
      partition,
      found.filter((record) => record !== undefined),
    )
    const records = new Map(marked.map((record) => [record.offset, record]))
    return offsets.map((offset) => {
      const record = records.get(offset)
      return record && recordOf(record)
    })
  }

  /** Reads the whole range: Kafka counts nothing. */
  async tally(partition: number, stream: Stream, { from, to }: OffsetRange): Promise<Tally> {
    const tally: Tally = new Map()
    if (!this.#holds(partition, stream)) return tally
    const end = Math.min(to, this.end(partition))
    for (let at = from; at < end; ) {
      const { records, next } = await this.#reader.forward(partition, at, TALLY_BYTES)
      for (const record of await this.#marked(partition, records)) {
        if (record.offset >= end) break
        const header = decodeHashes(record.bytes)
        const events = eventCount(header) - (record.duplicates?.length ?? 0) / 2
        addToTally(tally, header.sourceId, events, record.bytes.length)
      }
      at = next
    }
    return tally
  }

  async deletedBefore(partition: number): Promise<Offset> {
    await this.#reader.refresh([partition], 'first')
    return this.#reader.first(partition)
  }

  async oldest(partition: number): Promise<{ offset: Offset; acceptedAt: number } | undefined> {
    await this.#reader.refresh([partition], 'first')
    const first = this.#reader.first(partition)
    const known = this.#oldest.get(partition)
    if (known?.offset === first) return known
    if (first >= this.end(partition)) await this.#reader.refresh([partition], 'end')
    if (first >= this.end(partition)) return undefined
    const [record] = (await this.#reader.forward(partition, first, 1)).records
    if (record === undefined) return undefined
    const oldest = { offset: record.offset, acceptedAt: decodeHashes(record.bytes).acceptedAt }
    this.#oldest.set(partition, oldest)
    return oldest
  }

  /** Records older than half of the topics' retention: whoever still needs them copies them now. */
  async oldestUnit(partition: number): Promise<OffsetRange | undefined> {
    if (this.retention.retentionMs === Number.POSITIVE_INFINITY) return undefined
    const to = await this.#reader.storedFrom(partition, this.#clock.now() - this.retention.retentionMs / 2)
    const from = this.#reader.first(partition)
    return from < to ? { from, to } : undefined
  }

  end(partition: number): Offset {
    return this.#reader.end(partition)
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

  sizeBytes(): number {
    return 0
  }

  /** Finishes pending appends, at most ten seconds, then ends the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#watch.close()
    await this.#writer.close()
    this.#follower.close()
    this.#reader.close()
  }

  async #marked(partition: number, records: readonly FramedRecord[]): Promise<readonly FramedRecord[]> {
    if (this.#marks === undefined || records.length === 0) return records
    const marks = await this.#marks.of(
      partition,
      records.map(({ offset }) => offset),
    )
    if (marks.size === 0) return records
    return records.map((record) => {
      const duplicates = marks.get(record.offset)
      return duplicates === undefined ? record : { ...record, duplicates }
    })
  }

  #holds(partition: number, stream: Stream): boolean {
    return this.#places.streamOf(partition) === stream
  }

  #announce(partition: number): void {
    const stream = this.#places.streamOf(partition)
    for (const listener of this.#commitListeners) listener(partition, stream)
  }
}
