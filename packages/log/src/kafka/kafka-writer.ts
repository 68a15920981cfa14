import { type EventRecord, encodedSize, encodeRecord } from '@millrace/protocol'
import type { Clock, Timer } from '@millrace/std'
import type { DedupRule } from '../dedup.ts'
import { LogUnavailableError, type Offset } from '../event-log.ts'
import type { KafkaConnections } from './connections.ts'
import { type Produced, Producer } from './producer.ts'
import type { Topics } from './topics.ts'

/** Of one produce over all partitions. */
const MAX_RECORDS = 64
const MAX_BYTES = 4 * 1024 * 1024
/** Of an append, until its acknowledgement. */
const DEADLINE_MS = 10_000
const PROBE_INTERVAL_MS = 1_000
const FRESH_MS = 2_000
/** What Kafka adds to a batch, and to each of its records. */
const BATCH_OVERHEAD_BYTES = 61
const RECORD_OVERHEAD_BYTES = 64

interface Waiting {
  readonly partition: number
  readonly bytes: Buffer
  readonly rule: DedupRule | undefined
  readonly deadline: number
  readonly resolve: (offset: Offset) => void
  readonly reject: (error: LogUnavailableError) => void
}

export interface KafkaWriterOptions {
  /** For this writer only: a failure ends them. */
  readonly connections: KafkaConnections
  /** As of their last check. */
  readonly topics: () => Topics
  readonly clock: Clock
  readonly compression: 'none' | 'lz4'
  /** Called after a partition's records were stored, before their appends resolve. `end`: one past the last one. */
  readonly onStored: (partition: number, end: Offset) => void
}

/**
 * - `accepts`: the last produce succeeded, or there was none.
 * - `refuses`: a produce failed, and no probe has succeeded since.
 * - `tries`: a probe succeeded. The next produce decides; until it starts, appends are accepted for it.
 */
type State = 'accepts' | 'refuses' | 'tries'

/**
 * Group commit on Kafka: one produce at a time; what is appended meanwhile goes with the next one, without further delay.
 * Concurrent requests would save no time, and could change the order of records.
 *
 * @see contracts/cluster.md §3 [K7], decision 0102
 */
export class KafkaWriter {
  readonly #options: KafkaWriterOptions
  readonly #producer: Producer
  #waiting: Waiting[] = []
  #isPlanned = false
  #isProducing = false
  #state: State = 'accepts'
  #cause = ''
  #lastGoodAt = Number.NEGATIVE_INFINITY
  #probeTimer: Timer | undefined
  #probing: Promise<void> | undefined
  #isClosed = false
  #onIdle: () => void = () => {}

  constructor(options: KafkaWriterOptions) {
    this.#options = options
    const { connections, topics, clock, compression } = options
    this.#producer = new Producer(connections, topics().places, clock, compression)
  }

  /** Why appends are refused; undefined if they are accepted. */
  get trouble(): string | undefined {
    if (this.#isClosed) return 'the log is closed'
    if (this.#state === 'accepts' || (this.#state === 'tries' && !this.#isProducing)) return undefined
    return this.#cause
  }

  /** @throws LogUnavailableError */
  append(partition: number, record: EventRecord, rule?: DedupRule): Promise<Offset> {
    const { trouble } = this
    if (trouble !== undefined) return Promise.reject(new LogUnavailableError(trouble))
    const size = encodedSize(record)
    const { topics, clock } = this.#options
    const { maxBatchBytes } = topics()
    if (size + RECORD_OVERHEAD_BYTES + BATCH_OVERHEAD_BYTES > maxBatchBytes) {
      const limit = `max.message.bytes of the topic, ${maxBatchBytes}`
      return Promise.reject(new LogUnavailableError(`a record of ${size} bytes is larger than ${limit}`))
    }
    const bytes = Buffer.allocUnsafe(size)
    encodeRecord(record, bytes, 0)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ partition, bytes, rule, deadline: clock.monotonic() + DEADLINE_MS, resolve, reject })
      this.#plan()
    })
  }

  /** @throws LogUnavailableError unless a produce succeeded less than two seconds ago, or Kafka answers now. */
  async check(): Promise<void> {
    const isFresh = this.#options.clock.monotonic() - this.#lastGoodAt < FRESH_MS
    if (!this.#isClosed && !(this.#state === 'accepts' && isFresh)) await this.#probe()
    if (this.#isClosed || this.#state === 'refuses') throw new LogUnavailableError(this.trouble ?? this.#cause)
  }

  /** Refuses further appends, and waits for those that were accepted. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#probeTimer?.cancel()
    if (this.#isProducing || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    this.#options.connections.close()
  }

  /** Takes the appends of one turn of the event loop together. */
  #plan(): void {
    if (this.#isPlanned || this.#isProducing) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      if (!this.#isProducing) void this.#produce()
    })
  }

  async #produce(): Promise<void> {
    const group = this.#take()
    if (group.length === 0) return this.#onIdle()
    this.#isProducing = true
    const byPartition = Map.groupBy(group, ({ partition }) => partition)
    const produced = await this.#producer.produce(byPartition, group[0]!.deadline)
    this.#isProducing = false
    this.#settle(byPartition, produced)
    if (this.#waiting.length > 0) this.#plan()
    else this.#onIdle()
  }

  /** The oldest appends that fit. Those of a partition whose batch is full stay, in their order. */
  #take(): Waiting[] {
    const { maxBatchBytes } = this.#options.topics()
    const taken: Waiting[] = []
    const left: Waiting[] = []
    const room = new Map<number, number>()
    let bytes = 0
    for (const [i, each] of this.#waiting.entries()) {
      if (taken.length === MAX_RECORDS || (taken.length > 0 && bytes + each.bytes.length > MAX_BYTES)) {
        left.push(...this.#waiting.slice(i))
        break
      }
      const size = each.bytes.length + RECORD_OVERHEAD_BYTES
      const rest = (room.get(each.partition) ?? maxBatchBytes - BATCH_OVERHEAD_BYTES) - size
      // Once one append of a partition stays, all later ones do.
      room.set(each.partition, rest < 0 ? Number.NEGATIVE_INFINITY : rest)
      if (rest < 0) {
        left.push(each)
        continue
      }
      taken.push(each)
      bytes += each.bytes.length
    }
    this.#waiting = left
    return taken
  }

  #settle(groups: ReadonlyMap<number, readonly Waiting[]>, produced: ReadonlyMap<number, Produced>): void {
    const failed = produced.values().find((result) => result.kind === 'failed')
    if (failed === undefined) {
      this.#state = 'accepts'
      this.#lastGoodAt = this.#options.clock.monotonic()
    } else {
      this.#fail(failed.cause)
    }
    for (const [partition, group] of groups) {
      const result = produced.get(partition)!
      if (result.kind === 'failed') {
        const error = new LogUnavailableError(result.cause, { isUnknown: result.isUnknown })
        for (const { reject } of group) reject(error)
        continue
      }
      this.#options.onStored(partition, result.first + group.length)
      for (const [i, { resolve }] of group.entries()) resolve(result.first + i)
    }
  }

  /** Refuses what waits as well: it would wait for a produce that is not tried. */
  #fail(cause: string): void {
    this.#state = 'refuses'
    this.#cause = cause
    for (const { reject } of this.#waiting.splice(0)) reject(new LogUnavailableError(cause))
    this.#planProbe()
  }

  #planProbe(): void {
    this.#probeTimer?.cancel()
    if (this.#isClosed) return
    this.#probeTimer = this.#options.clock.setTimer(() => void this.#probe(), PROBE_INTERVAL_MS)
  }

  /** Looks whether every partition has a leader and enough replicas in sync. */
  #probe(): Promise<void> {
    this.#probing ??= this.#look()
      .then(
        () => {
          if (this.#state === 'refuses') this.#state = 'tries'
          this.#lastGoodAt = this.#options.clock.monotonic()
        },
        (error: Error) => {
          // A produce that is under way finds out by itself.
          if (!this.#isProducing) this.#fail(error.message)
        },
      )
      .finally(() => {
        this.#probing = undefined
      })
    return this.#probing
  }

  async #look(): Promise<void> {
    const { connections, topics } = this.#options
    const { places, minInSync } = topics()
    await connections.refresh(places.topics)
    for (const topic of places.topics) {
      const partitions = connections.topic(topic)?.partitions
      if (partitions === undefined) throw new Error(`topic ${topic} does not exist`)
      for (const [index, { leader, inSync }] of partitions.entries()) {
        if (leader === undefined) throw new Error(`partition ${index} of topic ${topic} has no leader`)
        if (inSync < minInSync) {
          throw new Error(
            `partition ${index} of topic ${topic} has ${inSync} replicas in sync, ${minInSync} are needed`,
          )
        }
      }
    }
  }
}
