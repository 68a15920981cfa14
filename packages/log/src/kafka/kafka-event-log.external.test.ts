import { afterAll, beforeAll } from 'vitest'
import { describeEventLog, type EngineDifferences } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import type { KafkaEventLogOptions } from './kafka-event-log.ts'
import { openLog, startKafka } from './testing/test-kafka.ts'

let kafka: KafkaCluster
beforeAll(async () => {
  kafka = await startKafka({ brokers: 1 })
})
afterAll(() => kafka[Symbol.asyncDispose]())

const differences: EngineDifferences = { keepsBackfillsApart: true, leavesDuplicates: true }

async function openFollowed(options: Partial<KafkaEventLogOptions>) {
  const log = await openLog(kafka, options)
  await Promise.all(Array.from({ length: log.partitions }, (_, partition) => log.follow(partition)))
  return log
}

describeEventLog('kafka, 4 partitions', () => openLog(kafka, { partitions: 4 }), differences)
describeEventLog('kafka, 4 partitions, followed', () => openFollowed({ partitions: 4 }), differences)
if (process.env['FULL'] !== undefined) {
  describeEventLog('kafka, one partition', () => openLog(kafka), differences)
  describeEventLog('kafka, 16 partitions', () => openLog(kafka, { partitions: 16 }), differences)
  describeEventLog(
    'kafka, followed, nothing kept in memory',
    () => openFollowed({ tailCacheBytes: 0, farCacheBytes: 0 }),
    differences,
  )
  describeEventLog('kafka, compressed', () => openLog(kafka, { compression: 'lz4' }), differences)
}
