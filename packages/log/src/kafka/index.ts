export type { KafkaAddress } from './connections.ts'
export { KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log.ts'
export { examineTopics, type TopicReport } from './topic-report.ts'
export { UnsafeTopicsError } from './topics.ts'
