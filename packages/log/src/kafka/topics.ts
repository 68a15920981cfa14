import type { Clock } from '@millrace/std'
import { ConfigResourceTypes, createTopicsV7, describeConfigsV4 } from '@platformatic/kafka'
import { type KafkaConnections, refusal } from './connections.ts'
import { CODES, causeOf, isPassing } from './kafka-errors.ts'
import { PartitionPlaces } from './partition-places.ts'

const REPLICAS = 3
const MIN_IN_SYNC = 2
const SEGMENT_BYTES = 256 * 1024 * 1024
const SEGMENT_MS = 3_600_000
/** Kafka's limit is that of a batch of records, and holds room for many small ones. */
const BATCH_ROOM_BYTES = 2 * 1024 * 1024
const LOOK_AGAIN_MS = 200
const CREATE_MS = 4_000

/** What `checks.log` of /health says while topics do not fulfil the requirements. */
export const UNSAFE_TOPICS = 'a 200 does not survive the loss of one broker'

export interface TopicOptions {
  readonly prefix: string
  /** Used when the topics are made; afterwards their own number counts. */
  readonly partitions: number
  readonly retentionMs: number
  readonly maxRecordBytes: number
  readonly isUnsafeAllowed: boolean
  readonly startMs: number
}

export interface Topics {
  readonly places: PartitionPlaces
  /** Of a batch of records, and so of a record. */
  readonly maxBatchBytes: number
  /** Fewer replicas in sync refuse appends. */
  readonly minInSync: number
  /** How long the brokers keep records. */
  readonly retentionMs: number
  /** Whether they may delete records earlier, because of the size of a partition. */
  readonly isSizeBound: boolean
  /** What does not fulfil the requirements; empty: nothing. */
  readonly weaknesses: readonly string[]
}

/** The topics cannot keep the promise of a 200. */
export class UnsafeTopicsError extends Error {
  override name = 'UnsafeTopicsError'
  readonly code = 'UNSAFE_TOPICS'
}

/**
 * Finds the topics, or makes them.
 *
 * @see contracts/cluster.md §2 [K6]
 *
 * @throws UnsafeTopicsError unless that is allowed.
 * @throws Error if no broker answers, or the topics have no leaders, within `startMs`.
 */
export async function openTopics(connections: KafkaConnections, options: TopicOptions, clock: Clock): Promise<Topics> {
  const { liveTopic, importTopic, topics } = new PartitionPlaces(options.prefix, options.partitions)
  const deadline = clock.monotonic() + options.startMs
  for (;;) {
    const problem = await readyProblem(connections, topics, options)
    if (problem === undefined) break
    if (clock.monotonic() >= deadline) throw new Error(problem)
    await new Promise<void>((resolve) => clock.setTimer(resolve, LOOK_AGAIN_MS))
  }
  const [homes, imports] = [liveTopic, importTopic].map((name) => connections.topic(name)!.partitions.length)
  if (homes !== imports) {
    throw new Error(`topic ${liveTopic} has ${homes} partitions and ${importTopic} has ${imports}: they must be equal`)
  }
  const checked = await checkTopics(connections, new PartitionPlaces(options.prefix, homes!))
  if (checked.weaknesses.length > 0 && !options.isUnsafeAllowed) {
    const list = checked.weaknesses.join('; ')
    throw new UnsafeTopicsError(`${list}. With MILLRACE_KAFKA_UNSAFE=true the start goes on, but ${UNSAFE_TOPICS}`)
  }
  return checked
}

/** Compares existing topics with the requirements. */
export async function checkTopics(connections: KafkaConnections, places: PartitionPlaces): Promise<Topics> {
  await connections.refresh(places.topics)
  const resources = places.topics.map((resourceName) => ({ resourceType: ConfigResourceTypes.TOPIC, resourceName }))
  const { results } = await connections.callAny(describeConfigsV4.api, resources, false, false)
  const weaknesses: string[] = []
  let maxBatchBytes = Number.POSITIVE_INFINITY
  let minInSync = 1
  let isSizeBound = false
  let retentionMs = Number.POSITIVE_INFINITY
  for (const { resourceName, errorCode, errorMessage, configs } of results) {
    if (errorCode !== 0) throw new Error(`topic ${resourceName} cannot be checked: ${refusal(errorCode, errorMessage)}`)
    const value = (name: string) => configs.find((config) => config.name === name)?.value ?? ''
    const partitions = connections.topic(resourceName)?.partitions ?? []
    const replicas = Math.min(...partitions.map((partition) => partition.replicas))
    const inSync = Number(value('min.insync.replicas'))
    if (replicas < REPLICAS) {
      weaknesses.push(`replication.factor of topic ${resourceName} is ${replicas}, at least ${REPLICAS} is needed`)
    }
    if (inSync < MIN_IN_SYNC) {
      weaknesses.push(`min.insync.replicas of topic ${resourceName} is ${inSync}, at least ${MIN_IN_SYNC} is needed`)
    }
    if (value('unclean.leader.election.enable') === 'true') {
      weaknesses.push(`unclean.leader.election.enable of topic ${resourceName} is true, false is needed`)
    }
    maxBatchBytes = Math.min(maxBatchBytes, Number(value('max.message.bytes')))
    minInSync = Math.max(minInSync, inSync)
    if (Number(value('retention.bytes')) >= 0) isSizeBound = true
    const retained = Number(value('retention.ms'))
    // -1: for ever.
    if (retained >= 0) retentionMs = Math.min(retentionMs, retained)
  }
  return { places, maxBatchBytes, minInSync, retentionMs, isSizeBound, weaknesses }
}

/** @returns why the topics cannot be used yet; undefined if they can. */
async function readyProblem(
  connections: KafkaConnections,
  topics: readonly string[],
  options: TopicOptions,
): Promise<string | undefined> {
  try {
    await connections.refresh(topics)
  } catch (error) {
    return causeOf(error)
  }
  const missing = topics.filter((name) => connections.topic(name) === undefined)
  if (missing.length > 0) return (await create(connections, missing, options)) ?? `topic ${missing[0]} is being made`
  const waiting = topics.find((name) => connections.topic(name)!.partitions.some(({ leader }) => leader === undefined))
  return waiting && `a partition of topic ${waiting} has no leader`
}

async function create(
  connections: KafkaConnections,
  names: readonly string[],
  options: TopicOptions,
): Promise<string | undefined> {
  const brokers = connections.nodes.length
  if (brokers === 0) return `topic ${names[0]} cannot be made: no broker is ready`
  const replicas = options.isUnsafeAllowed ? Math.min(REPLICAS, brokers) : REPLICAS
  const configs = Object.entries({
    'min.insync.replicas': Math.min(MIN_IN_SYNC, Math.max(1, replicas - 1)),
    'unclean.leader.election.enable': false,
    'cleanup.policy': 'delete',
    'retention.ms': options.retentionMs,
    'segment.bytes': SEGMENT_BYTES,
    'segment.ms': SEGMENT_MS,
    'max.message.bytes': options.maxRecordBytes + BATCH_ROOM_BYTES,
    'message.timestamp.type': 'LogAppendTime',
    'compression.type': 'producer',
  }).map(([name, value]) => ({ name, value: String(value) }))
  const shape = { numPartitions: options.partitions, replicationFactor: replicas, assignments: [], configs }
  const wanted = names.map((name) => ({ name, ...shape }))
  const { topics } = await connections.callAny(createTopicsV7.api, wanted, CREATE_MS, false)
  for (const { name, errorCode, errorMessage } of topics) {
    if (errorCode === 0 || errorCode === CODES.topicAlreadyExists) continue
    // Brokers that start at the same time are not all known yet.
    if (errorCode === CODES.invalidReplicationFactor && !options.isUnsafeAllowed) {
      return `topic ${name} needs ${REPLICAS} replicas, and there are ${brokers} brokers (MILLRACE_KAFKA_UNSAFE=true allows fewer)`
    }
    const problem = `topic ${name} cannot be made: ${refusal(errorCode, errorMessage)}`
    if (!isPassing(errorCode) && errorCode !== CODES.invalidReplicationFactor) throw new Error(problem)
    return problem
  }
  return undefined
}
