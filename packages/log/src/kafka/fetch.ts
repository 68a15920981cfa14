import { fetchV12, IS_CONTROL, Reader, type RecordsBatch } from '@platformatic/kafka'
import type { Offset } from '../event-log.ts'
import type { FramedRecord } from '../frames.ts'
import type { KafkaConnections } from './connections.ts'
import { ruleOf } from './dedup-header.ts'
import type { PartitionPlaces } from './partition-places.ts'
import type { RecordChunk } from './record-chunk.ts'

export interface FetchFrom {
  readonly partition: number
  readonly from: Offset
  readonly maxBytes: number
}

export interface FetchLimits {
  /** How long the broker waits for a first record; 0: not at all. */
  readonly maxWaitMs: number
  /** Of all partitions together; the first batch of records comes whole. */
  readonly maxBytes: number
}

export interface Fetched {
  readonly partition: number
  /** Of the protocol; 0: none. */
  readonly code: number
  /** Undefined if there is no record at or after `from`. It may begin before `from`. */
  readonly chunk: RecordChunk | undefined
  /** One past the last record that readers may see; −1 with an error. */
  readonly end: Offset
  /** The first offset that retention left; −1 with an error. */
  readonly first: Offset
}

const NO_SESSION = 0
const NO_SESSION_EPOCH = -1
const COMMITTED_AND_OTHERS = 0
const AT_LEAST_ONE_BYTE = 1

/**
 * Reads records of partitions from their leader. Each request stands for itself: Kafka's fetch sessions save bytes only with
 * thousands of partitions, and have errors of their own.
 *
 * @throws KafkaCallError
 */
export async function fetchRecords(
  connections: KafkaConnections,
  places: PartitionPlaces,
  leader: number,
  wanted: readonly FetchFrom[],
  { maxWaitMs, maxBytes }: FetchLimits,
): Promise<Fetched[]> {
  const byTopic = Map.groupBy(wanted, ({ partition }) => places.placeOf(partition).topic)
  const topics = [...byTopic].map(([topicId, group]) => ({
    topicId,
    partitions: group.map((each) => ({
      partition: places.placeOf(each.partition).index,
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(each.from),
      lastFetchedEpoch: -1,
      partitionMaxBytes: each.maxBytes,
    })),
  }))
  const session = [COMMITTED_AND_OTHERS, NO_SESSION, NO_SESSION_EPOCH] as const
  const answer = await connections.call(leader, API, maxWaitMs, AT_LEAST_ONE_BYTE, maxBytes, ...session, topics, [], '')
  return answer.responses.flatMap(({ topicId, partitions }) =>
    partitions.map(({ partitionIndex, errorCode, highWatermark, logStartOffset, records }): Fetched => {
      const partition = places.numberOf(topicId, partitionIndex)
      const end = Number(highWatermark)
      const chunk = records === null || errorCode !== 0 ? undefined : chunkOf(records ?? [], end)
      return { partition, code: errorCode, chunk, end, first: Number(logStartOffset) }
    }),
  )
}

/** The client reads an answer in pieces of the socket, which costs a search per number: here it is one piece. */
const API: { readonly async: typeof fetchV12.api.async } = {
  async: (connection, ...request) =>
    new Promise((resolve, reject) => {
      connection.send<fetchV12.FetchResponse>(
        fetchV12.api.key,
        fetchV12.api.version,
        () => fetchV12.createRequest(...request),
        (id, key, version, reader) => {
          return fetchV12.parseResponse(id, key, version, Reader.from(reader.buffer.slice(reader.position)))
        },
        true,
        true,
        (error, answer) => (error ? reject(error) : resolve(answer!)),
      )
    }),
}

function chunkOf(batches: readonly RecordsBatch[], end: Offset): RecordChunk | undefined {
  const records: FramedRecord[] = []
  let bytes = 0
  let next: Offset | undefined
  for (const batch of batches) {
    const first = Number(batch.firstOffset)
    // Records that too few replicas have may still be lost.
    if (first >= end) break
    next = first + batch.lastOffsetDelta + 1
    if ((batch.attributes & IS_CONTROL) !== 0) continue
    for (const { offsetDelta, value, headers } of batch.records) {
      if (value === null) continue
      const rule = ruleOf(headers)
      const record = { offset: first + offsetDelta, bytes: value }
      records.push(rule === undefined ? record : { ...record, rule })
      bytes += value.length
    }
  }
  return next === undefined ? undefined : { from: Number(batches[0]!.firstOffset), next, records, bytes }
}
