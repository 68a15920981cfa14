import type { Clock } from '@millrace/std'
import { initProducerIdV4, NumericMap, ProduceAcks, produceV9 } from '@platformatic/kafka'
import type { DedupRule } from '../dedup.ts'
import type { Offset } from '../event-log.ts'
import type { KafkaConnections } from './connections.ts'
import { headersOf } from './dedup-header.ts'
import { CODES, codeName, isPassing } from './kafka-errors.ts'
import type { PartitionPlaces } from './partition-places.ts'

/** At most 20 attempts, so that no call stays open. @see contracts/cluster.md §3 [K7] */
const ATTEMPTS = 20
const RETRY_MS = 250
/** How long a leader waits for its replicas, before it answers that they are late. */
const REPLICATION_MS = 4_000
const SEQUENCES = 2 ** 31

/** Encoded records of one partition with their rules for duplicates, which Kafka stores as one batch. */
export type ProduceGroup = readonly { readonly bytes: Buffer; readonly rule: DedupRule | undefined }[]

export type Produced =
  | { readonly kind: 'stored'; readonly first: Offset }
  /** @param isUnknown whether the records may be stored, now or later. */
  | { readonly kind: 'failed'; readonly cause: string; readonly isUnknown: boolean }

/**
 * An idempotent producer: a request that was repeated because its answer was lost stores nothing twice, and records keep
 * their order. One `produce` at a time.
 */
export class Producer {
  readonly #connections: KafkaConnections
  readonly #places: PartitionPlaces
  readonly #clock: Clock
  readonly #compression: 'none' | 'lz4'
  #identity: { readonly producerId: bigint; readonly producerEpoch: number } | undefined
  /** The next sequence number by `topic:index`, the key that the client looks for. */
  readonly #sequences = new NumericMap()

  constructor(connections: KafkaConnections, places: PartitionPlaces, clock: Clock, compression: 'none' | 'lz4') {
    this.#connections = connections
    this.#places = places
    this.#clock = clock
    this.#compression = compression
  }

  /**
   * Stores groups of records, by partition. Does not throw.
   *
   * @param deadline by the monotonic clock: what is not acknowledged by then has failed.
   */
  async produce(groups: ReadonlyMap<number, ProduceGroup>, deadline: number): Promise<Map<number, Produced>> {
    const produced = new Map<number, Produced>()
    const uncertain = new Set<number>()
    let cause = ''
    let isOver = false
    const timer = this.#clock.setTimer(() => {
      isOver = true
      // Ends the requests under way, and sends nothing that a socket still holds back.
      this.#connections.disconnect()
    }, deadline - this.#clock.monotonic())
    for (let attempt = 0; attempt < ATTEMPTS && !isOver && produced.size < groups.size; attempt++) {
      if (attempt > 0) {
        await new Promise<void>((resolve) => this.#clock.setTimer(resolve, RETRY_MS))
        if (isOver) break
        await this.#connections.refresh(this.#places.topics).catch((error: Error) => {
          cause = error.message
        })
        if (isOver) break
      }
      cause = (await this.#attempt(groups, produced, uncertain)) ?? cause
    }
    timer.cancel()
    if (isOver) cause = `no acknowledgement in time (${cause || 'the leader does not answer'})`
    for (const partition of groups.keys()) {
      if (!produced.has(partition))
        produced.set(partition, { kind: 'failed', cause, isUnknown: uncertain.has(partition) })
    }
    if (produced.values().some(({ kind }) => kind === 'failed')) this.#reset()
    return produced
  }

  /** @returns why some partition is not stored yet. */
  async #attempt(
    groups: ReadonlyMap<number, ProduceGroup>,
    produced: Map<number, Produced>,
    uncertain: Set<number>,
  ): Promise<string | undefined> {
    let cause: string | undefined
    try {
      this.#identity ??= await this.#newIdentity()
    } catch (error) {
      return (error as Error).message
    }
    const left = [...groups.keys()].filter((partition) => !produced.has(partition))
    const byLeader = Map.groupBy(left, (partition) => {
      const { topic, index } = this.#places.placeOf(partition)
      return this.#connections.leader(topic, index)
    })
    const requests = [...byLeader].map(async ([leader, partitions]) => {
      if (leader === undefined) {
        cause = `partition ${partitions[0]} has no leader`
        return
      }
      try {
        for (const { partition, code, first } of await this.#request(leader, partitions, groups)) {
          if (code === 0) {
            produced.set(partition, { kind: 'stored', first })
            this.#advance(partition, groups.get(partition)!.length)
            continue
          }
          cause = codeName(code)
          if (mayBeStored(code)) uncertain.add(partition)
          if (!isPassing(code)) produced.set(partition, { kind: 'failed', cause, isUnknown: uncertain.has(partition) })
        }
      } catch (error) {
        cause = (error as Error).message
        for (const partition of partitions) uncertain.add(partition)
      }
    })
    await Promise.all(requests)
    return cause
  }

  async #request(leader: number, partitions: readonly number[], groups: ReadonlyMap<number, ProduceGroup>) {
    const messages = partitions.flatMap((partition) => {
      const { topic, index } = this.#places.placeOf(partition)
      return groups.get(partition)!.map(({ bytes, rule }) => {
        const headers = rule === undefined ? {} : { headers: headersOf(rule) }
        return { topic, partition: index, value: bytes, ...headers }
      })
    })
    const options = { ...this.#identity!, sequences: this.#sequences, compression: this.#compression }
    const answer = await this.#connections.call(
      leader,
      produceV9.api,
      ProduceAcks.ALL,
      REPLICATION_MS,
      messages,
      options,
    )
    if (typeof answer === 'boolean') throw new Error('the leader gave no answer')
    return answer.responses.flatMap(({ name, partitionResponses }) =>
      partitionResponses.map(({ index, errorCode, baseOffset }) => {
        return { partition: this.#places.numberOf(name, index), code: errorCode, first: Number(baseOffset) }
      }),
    )
  }

  async #newIdentity(): Promise<{ producerId: bigint; producerEpoch: number }> {
    const answer = await this.#connections.callAny(initProducerIdV4.api, null, REPLICATION_MS, -1n, -1)
    if (answer.errorCode !== 0) throw new Error(`no producer id: ${codeName(answer.errorCode)}`)
    return { producerId: answer.producerId, producerEpoch: answer.producerEpoch }
  }

  #advance(partition: number, records: number): void {
    const { topic, index } = this.#places.placeOf(partition)
    const key = `${topic}:${index}`
    this.#sequences.set(key, (this.#sequences.getWithDefault(key, 0) + records) % SEQUENCES)
  }

  /** After a failure the leader may have counted records that we have not, so the next batch begins a new sequence. */
  #reset(): void {
    this.#identity = undefined
    this.#sequences.clear()
    this.#connections.disconnect()
  }
}

function mayBeStored(code: number): boolean {
  return (
    code === CODES.requestTimedOut || code === CODES.notEnoughReplicasAfterAppend || code === CODES.duplicateSequence
  )
}
