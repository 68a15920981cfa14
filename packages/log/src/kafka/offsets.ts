import type { Clock } from '@millrace/std'
import { listOffsetsV7 } from '@platformatic/kafka'
import type { Offset } from '../event-log.ts'
import type { KafkaConnections } from './connections.ts'
import { codeName, isPassing } from './kafka-errors.ts'
import type { PartitionPlaces } from './partition-places.ts'

const CONSUMER = -1
const COMMITTED_AND_OTHERS = 0
const DEADLINE_MS = 10_000
const RETRY_MS = 250

/** An offset to ask for: the end, the first one, or the first one that the broker stored at or after a time. */
export type OffsetQuestion = 'end' | 'first' | { readonly storedFrom: number }

/**
 * Asks the leaders for offsets; `undefined` for a time after the last record.
 *
 * @throws Error if some leader gives no answer within ten seconds; a request under way may take longer.
 */
export async function listOffsets(
  connections: KafkaConnections,
  places: PartitionPlaces,
  partitions: readonly number[],
  question: OffsetQuestion,
  clock: Clock,
): Promise<Map<number, Offset | undefined>> {
  const timestamp = question === 'end' ? -1n : question === 'first' ? -2n : BigInt(Math.floor(question.storedFrom))
  const found = new Map<number, Offset | undefined>()
  let cause = ''
  for (const deadline = clock.monotonic() + DEADLINE_MS; ; ) {
    const missing = partitions.filter((partition) => !found.has(partition))
    const byLeader = Map.groupBy(missing, (partition) => {
      const { topic, index } = places.placeOf(partition)
      return connections.leader(topic, index)
    })
    const asked = [...byLeader].map(async ([leader, group]) => {
      if (leader === undefined) throw new Error('a partition has no leader')
      for (const [partition, offset, code] of await ask(connections, places, leader, group, timestamp)) {
        if (code === 0) found.set(partition, offset)
        else if (isPassing(code)) cause = codeName(code)
        else throw new Error(codeName(code))
      }
    })
    for (const result of await Promise.allSettled(asked)) {
      if (result.status === 'rejected') cause = (result.reason as Error).message
    }
    if (found.size === partitions.length) return found
    if (clock.monotonic() + RETRY_MS >= deadline) throw new Error(`offsets cannot be read: ${cause}`)
    await new Promise<void>((resolve) => void clock.setTimer(resolve, RETRY_MS))
    await connections.refresh(places.topics).catch((error: Error) => {
      cause = error.message
    })
  }
}

async function ask(
  connections: KafkaConnections,
  places: PartitionPlaces,
  leader: number,
  partitions: readonly number[],
  timestamp: bigint,
): Promise<[number, Offset | undefined, number][]> {
  const byTopic = Map.groupBy(partitions, (partition) => places.placeOf(partition).topic)
  const topics = [...byTopic].map(([name, group]) => ({
    name,
    partitions: group.map((partition) => {
      return { partitionIndex: places.placeOf(partition).index, currentLeaderEpoch: -1, timestamp }
    }),
  }))
  const answer = await connections.call(leader, listOffsetsV7.api, CONSUMER, COMMITTED_AND_OTHERS, topics)
  return answer.topics.flatMap((topic) =>
    topic.partitions.map(({ partitionIndex, offset, errorCode }): [number, Offset | undefined, number] => {
      return [places.numberOf(topic.name, partitionIndex), offset < 0n ? undefined : Number(offset), errorCode]
    }),
  )
}
