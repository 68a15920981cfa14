export type { KafkaAddress } from './connections.ts'
export { KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log.ts'
export { UnsafeTopicsError } from './topics.ts'
