import type { Clock } from '@millrace/std'
import { deleteRecordsV2 } from '@platformatic/kafka'
import { type KafkaAddress, KafkaConnections } from '../connections.ts'

/** Deletes the records of a partition before an offset, as retention does. */
export async function deleteRecords(
  kafka: KafkaAddress,
  clock: Clock,
  { topic, index, before }: { readonly topic: string; readonly index: number; readonly before: number },
): Promise<void> {
  const connections = new KafkaConnections(kafka, clock)
  try {
    await connections.refresh([topic])
    const topics = [{ name: topic, partitions: [{ partitionIndex: index, offset: BigInt(before) }] }]
    await connections.call(connections.leader(topic, index)!, deleteRecordsV2.api, topics, 4_000)
  } finally {
    connections.close()
  }
}
