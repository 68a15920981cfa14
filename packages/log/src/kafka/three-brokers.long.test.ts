import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { KafkaConnections } from './connections.ts'
import { AppendLoad } from './testing/append-load.ts'
import { newPrefix, openLog, startKafka } from './testing/test-kafka.ts'

// On a busy machine a killed broker takes up to 40 s to open its port again.
vi.setConfig({ testTimeout: 400_000 })

let kafka: KafkaCluster
beforeAll(async () => {
  kafka = await startKafka({ brokers: 3 })
})
afterAll(() => kafka[Symbol.asyncDispose]())

const safe = { isUnsafeAllowed: false }

test('16 partitions, 32 writers in two processes, each broker killed once: nothing is lost, and every reader sees one order', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { ...safe, prefix, partitions: 16 })
  await using other = await openLog(kafka, { ...safe, prefix })
  expect(log.topicWarning()).toBeUndefined()
  const loads = [new AppendLoad(log, 16, 'a'), new AppendLoad(other, 16, 'b')]
  for (const broker of kafka.brokers) {
    await Promise.all(loads.map((load) => load.progress(200)))
    await broker.kill()
    await Promise.all(loads.map((load) => load.progress(200)))
    await broker.start()
    await everyReplicaInSync(prefix)
  }
  await Promise.all(loads.map((load) => load.stop()))
  await using reader = await openLog(kafka, { ...safe, prefix })
  for (const load of loads) expect(await load.brokenPromises(reader)).toEqual([])
})

test('a broker that is stopped is left aside once its session has ended; its return changes nothing that was acknowledged', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { ...safe, prefix, partitions: 6 })
  const load = new AppendLoad(log, 12)
  await load.progress(200)
  await kafka.brokers[1]!.pause()
  await load.progress(300)
  kafka.brokers[1]!.resume()
  await load.progress(300)
  await load.stop()
  await everyReplicaInSync(prefix)
  await using reader = await openLog(kafka, { ...safe, prefix })
  expect(await load.brokenPromises(reader)).toEqual([])
  expect(load.longestMs).toBeLessThan(11_000)
})

test('with two of three brokers gone nothing is acknowledged; with one back appends go on by themselves', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { ...safe, prefix, partitions: 4 })
  await log.append(0, 'live', testRecord('source-a', 'before'))
  await Promise.all([kafka.brokers[0]!.kill(), kafka.brokers[1]!.kill()])
  const attempts = await Promise.allSettled(
    [0, 1, 2, 3].map((home) => log.append(home, 'live', testRecord('source-a', 'lost'))),
  )
  expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 'rejected'))
  await kafka.brokers[0]!.start()
  await expect
    .poll(() => log.append(0, 'live', testRecord('source-a', 'after')).catch(() => -1), { timeout: 60_000 })
    .toBeGreaterThan(0)
  await kafka.brokers[1]!.start()
  await everyReplicaInSync(prefix)
})

/** A broker that came back copies what it missed; the next one may be killed then. */
async function everyReplicaInSync(prefix: string): Promise<void> {
  const connections = new KafkaConnections({ brokers: kafka.addresses }, systemClock)
  const topics = [`${prefix}.live`, `${prefix}.import`]
  const fewest = async () => {
    await connections.refresh(topics).catch(() => {})
    return Math.min(...topics.flatMap((topic) => connections.topic(topic)?.partitions.map(({ inSync }) => inSync) ?? 0))
  }
  try {
    await expect.poll(fewest, { timeout: 90_000, interval: 200 }).toBe(3)
  } finally {
    connections.close()
  }
}
