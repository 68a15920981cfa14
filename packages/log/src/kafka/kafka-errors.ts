import { protocolErrorsCodesById } from '@platformatic/kafka'

/** Error codes of Kafka's protocol that decide what happens next. */
export const CODES = {
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  requestTimedOut: 7,
  notEnoughReplicasAfterAppend: 20,
  topicAlreadyExists: 36,
  invalidReplicationFactor: 38,
  duplicateSequence: 46,
} as const

/**
 * Refusals after which the same request may succeed: the leader moved or starts, or too few replicas are in sync. Unlike the
 * client's own list it has no code that stays until a person acts.
 */
const PASSING = new Set([
  2, // CORRUPT_MESSAGE: damaged on the way
  3, // UNKNOWN_TOPIC_OR_PARTITION: a new topic is not known to every broker at once
  5, // LEADER_NOT_AVAILABLE
  6, // NOT_LEADER_OR_FOLLOWER
  7, // REQUEST_TIMED_OUT
  8, // BROKER_NOT_AVAILABLE
  9, // REPLICA_NOT_AVAILABLE
  13, // NETWORK_EXCEPTION
  14, // COORDINATOR_LOAD_IN_PROGRESS
  15, // COORDINATOR_NOT_AVAILABLE
  19, // NOT_ENOUGH_REPLICAS
  20, // NOT_ENOUGH_REPLICAS_AFTER_APPEND
  41, // NOT_CONTROLLER
  56, // KAFKA_STORAGE_ERROR: the broker gives the partition away
  74, // FENCED_LEADER_EPOCH
  75, // UNKNOWN_LEADER_EPOCH
  78, // OFFSET_NOT_AVAILABLE
])

export function isPassing(code: number): boolean {
  return PASSING.has(code)
}

/** The name of a code in Kafka's protocol: `NOT_ENOUGH_REPLICAS`. */
export function codeName(code: number): string {
  const names: Readonly<Record<number, string>> = protocolErrorsCodesById
  return names[code] ?? `error ${code}`
}

const MAX_MESSAGES = 3

/** What happened, in one line. The client nests causes in lists of lists, and only the innermost say something. */
export function causeOf(error: unknown): string {
  const messages = new Set<string>()
  collect(error, messages, 0)
  return [...messages].slice(0, MAX_MESSAGES).join('; ')
}

function collect(error: unknown, messages: Set<string>, depth: number): void {
  if (!(error instanceof Error)) {
    messages.add(String(error))
    return
  }
  const inner = [...(error instanceof AggregateError ? error.errors : []), error.cause].filter((each) => each != null)
  if (inner.length === 0 || depth > 10) messages.add(error.message || error.name)
  for (const each of inner) collect(each, messages, depth + 1)
}
