import type { Clock } from '@millrace/std'
import type { Offset } from '../event-log.ts'
import { type KafkaAddress, KafkaConnections, type PartitionMetadata } from './connections.ts'
import { listOffsets } from './offsets.ts'
import { PartitionPlaces } from './partition-places.ts'
import { checkTopics, type Topics } from './topics.ts'

/** The topics of an installation as they are, for people. */
export interface TopicReport {
  /** The number of brokers. */
  readonly brokers: number
  /** Live and import, in this order; without partitions: the topic does not exist. */
  readonly topics: readonly { readonly name: string; readonly partitions: readonly PartitionMetadata[] }[]
  /** Their settings; undefined unless both exist, with the same number of partitions. */
  readonly checked: Topics | undefined
  /** By partition, live before import; undefined also while a partition has no leader. */
  readonly offsets: readonly { readonly first: Offset; readonly end: Offset }[] | undefined
}

/** Looks at the topics, and makes nothing. @throws KafkaCallError if no broker answers. */
export async function examineTopics(kafka: KafkaAddress, prefix: string, clock: Clock): Promise<TopicReport> {
  const connections = new KafkaConnections(kafka, clock)
  try {
    const names = new PartitionPlaces(prefix, 1).topics
    await connections.refresh(names)
    const topics = names.map((name) => ({ name, partitions: connections.topic(name)?.partitions ?? [] }))
    const brokers = connections.nodes.length
    const [homes, imports] = topics.map(({ partitions }) => partitions.length)
    if (homes === 0 || homes !== imports) return { brokers, topics, checked: undefined, offsets: undefined }
    const checked = await checkTopics(connections, new PartitionPlaces(prefix, homes!))
    const hasLeaders = topics.every(({ partitions }) => partitions.every(({ leader }) => leader !== undefined))
    const offsets = hasLeaders ? await offsetsOf(connections, checked.places, clock) : undefined
    return { brokers, topics, checked, offsets }
  } finally {
    connections.close()
  }
}

async function offsetsOf(connections: KafkaConnections, places: PartitionPlaces, clock: Clock) {
  const all = Array.from({ length: places.count }, (_, partition) => partition)
  const [firsts, ends] = await Promise.all([
    listOffsets(connections, places, all, 'first', clock),
    listOffsets(connections, places, all, 'end', clock),
  ])
  return all.map((partition) => ({ first: firsts.get(partition) ?? 0, end: ends.get(partition) ?? 0 }))
}
