import { systemClock } from '@millrace/std'
import { KafkaCluster, type KafkaClusterOptions } from '../../kafka-brokers/index.ts'
import { KafkaEventLog, type KafkaEventLogOptions } from '../kafka-event-log.ts'

/** A killed broker may come back once its session has ended, and its partitions move then: in tests sooner. */
const SETTINGS = { 'broker.session.timeout.ms': 3_000, 'broker.heartbeat.interval.ms': 500 }

/** Brokers for the tests of one file. */
export function startKafka(options: KafkaClusterOptions): Promise<KafkaCluster> {
  return KafkaCluster.start({ ...options, settings: { ...SETTINGS, ...options.settings } })
}

const FILE = crypto.randomUUID().slice(0, 8)
let prefixes = 0

/** A prefix of topics that no other test uses. */
export function newPrefix(): string {
  return `test-${FILE}-${++prefixes}`
}

/** A log on topics of its own. */
export function openLog(
  { addresses }: Pick<KafkaCluster, 'addresses'>,
  options: Partial<KafkaEventLogOptions> = {},
): Promise<KafkaEventLog> {
  return KafkaEventLog.open({
    kafka: { brokers: addresses },
    prefix: newPrefix(),
    clock: systemClock,
    partitions: 1,
    retentionMs: 86_400_000,
    maxRecordBytes: 5 * 1024 * 1024,
    isUnsafeAllowed: true,
    ...options,
  })
}
