import { ManualClock, systemClock } from '@millrace/std'
import { createTopicsV7, deleteTopicsV6, describeConfigsV4, incrementalAlterConfigsV1 } from '@platformatic/kafka'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { brokerOfRun } from '../kafka-brokers/testing/test-run.ts'
import { KafkaConnections } from './connections.ts'
import { newPrefix, openLog } from './testing/test-kafka.ts'

const TOPIC = 2

let kafka: Pick<KafkaCluster, 'addresses'>
let connections: KafkaConnections
beforeAll(async () => {
  kafka = await brokerOfRun()
  connections = new KafkaConnections({ brokers: kafka.addresses }, systemClock)
})
afterAll(() => connections.close())

test('one broker cannot keep three replicas: the start says so, and how to start anyway', async () => {
  const prefix = newPrefix()
  await expect(openLog(kafka, { prefix, isUnsafeAllowed: false, startMs: 1_000 })).rejects.toThrow(
    `topic ${prefix}.live needs 3 replicas, and there are 1 brokers (MILLRACE_KAFKA_UNSAFE=true allows fewer)`,
  )
})

test('topics are made with the settings of the contract', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, partitions: 3, retentionMs: 7_200_000, maxRecordBytes: 1_000_000 })
  expect(log.partitions).toBe(6)
  for (const name of [`${prefix}.live`, `${prefix}.import`]) {
    const wanted = [{ resourceType: TOPIC, resourceName: name } as const]
    const { results } = await connections.callAny(describeConfigsV4.api, wanted, false, false)
    const values = Object.fromEntries(results[0]!.configs.map(({ name, value }) => [name, value]))
    expect(values).toMatchObject({
      'cleanup.policy': 'delete',
      'compression.type': 'producer',
      'max.message.bytes': String(1_000_000 + 2 * 1024 * 1024),
      'message.timestamp.type': 'LogAppendTime',
      'retention.ms': '7200000',
      'segment.bytes': String(256 * 1024 * 1024),
      'segment.ms': '3600000',
      'unclean.leader.election.enable': 'false',
    })
  }
})

test('topics that cannot keep the promise are refused, naming topic and value, or opened with a warning', async () => {
  const prefix = newPrefix()
  await (await openLog(kafka, { prefix }))[Symbol.asyncDispose]()
  await setConfig(`${prefix}.import`, 'unclean.leader.election.enable', 'true')
  const weaknesses = [
    `replication.factor of topic ${prefix}.live is 1, at least 3 is needed`,
    `min.insync.replicas of topic ${prefix}.live is 1, at least 2 is needed`,
    `replication.factor of topic ${prefix}.import is 1, at least 3 is needed`,
    `min.insync.replicas of topic ${prefix}.import is 1, at least 2 is needed`,
    `unclean.leader.election.enable of topic ${prefix}.import is true, false is needed`,
  ].join('; ')
  await expect(openLog(kafka, { prefix, isUnsafeAllowed: false })).rejects.toMatchObject({
    code: 'UNSAFE_TOPICS',
    message: `${weaknesses}. With MILLRACE_KAFKA_UNSAFE=true the start goes on, but a 200 does not survive the loss of one broker`,
  })
  await using log = await openLog(kafka, { prefix })
  expect(log.topicWarning()).toBe(`a 200 does not survive the loss of one broker (${weaknesses})`)
})

test('topics are checked again every minute', async () => {
  const prefix = newPrefix()
  await (await openLog(kafka, { prefix }))[Symbol.asyncDispose]()
  const clock = new ManualClock(Date.now())
  await using log = await openLog(kafka, { prefix, clock })
  expect(log.topicWarning()).not.toContain('unclean')
  await setConfig(`${prefix}.live`, 'unclean.leader.election.enable', 'true')
  await clock.advance(60_000)
  await expect
    .poll(() => log.topicWarning())
    .toContain(`unclean.leader.election.enable of topic ${prefix}.live is true`)
})

test('a topic that was deleted and made again while the process runs is named', async () => {
  const prefix = newPrefix()
  await (await openLog(kafka, { prefix }))[Symbol.asyncDispose]()
  const clock = new ManualClock(Date.now())
  await using log = await openLog(kafka, { prefix, clock })
  expect(log.topicWarning()).not.toContain('made again')
  await connections.callAny(deleteTopicsV6.api, [{ name: `${prefix}.live` }], 5_000)
  const isMade = async () => {
    const topic = { name: `${prefix}.live`, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
    const { topics } = await connections.callAny(createTopicsV7.api, [topic], 5_000, false)
    return topics[0]!.errorCode
  }
  await expect.poll(isMade).toBe(0)
  await clock.advance(60_000)
  await expect.poll(() => log.topicWarning()).toContain(`topic ${prefix}.live was deleted and made again`)
})

test('the number of partitions is that of the topics, whatever the setting says later; both topics must agree', async () => {
  const prefix = newPrefix()
  await (await openLog(kafka, { prefix, partitions: 3 }))[Symbol.asyncDispose]()
  await using log = await openLog(kafka, { prefix, partitions: 5 })
  expect(log.partitions).toBe(6)
  await expect(log.append(3, 'live', testRecord('source-a', 'x'))).rejects.toThrow(RangeError)
  const other = newPrefix()
  const shape = { replicationFactor: 1, assignments: [], configs: [] }
  const unequal = [
    { name: `${other}.live`, numPartitions: 2, ...shape },
    { name: `${other}.import`, numPartitions: 1, ...shape },
  ]
  await connections.callAny(createTopicsV7.api, unequal, 4_000, false)
  await expect(openLog(kafka, { prefix: other })).rejects.toThrow(
    `topic ${other}.live has 2 partitions and ${other}.import has 1: they must be equal`,
  )
})

test('several processes that start at the same time make the topics once', async () => {
  const prefix = newPrefix()
  const logs = await Promise.all(Array.from({ length: 5 }, () => openLog(kafka, { prefix, partitions: 4 })))
  await Promise.all(logs.map((log, i) => log.append(i % 4, 'live', testRecord('source-a', `${i}`))))
  expect(await logs[0]!.readEnds()).toEqual([2, 1, 1, 1, 0, 0, 0, 0])
  await Promise.all(logs.map((log) => log[Symbol.asyncDispose]()))
})

test('brokers that do not answer are named, and an address without a port is refused', async () => {
  await expect(openLog({ addresses: ['127.0.0.1:1'] }, { startMs: 1_000 })).rejects.toThrow(
    'no broker answers: connect ECONNREFUSED 127.0.0.1:1',
  )
  await expect(openLog({ addresses: ['kafka'] })).rejects.toThrow(
    '"kafka" is not the address of a broker: write host:port',
  )
})

async function setConfig(topic: string, name: string, value: string): Promise<void> {
  const SET = 0
  const change = [
    { resourceType: TOPIC, resourceName: topic, configs: [{ name, configOperation: SET, value }] } as const,
  ]
  await connections.callAny(incrementalAlterConfigsV1.api, change as never, false)
}
