import { channel } from 'node:diagnostics_channel'
import { beforeAll, describe, expect, test } from 'vitest'
import { noteOf, readAll, testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { brokerOfRun } from '../kafka-brokers/testing/test-run.ts'
import { AppendLoad } from './testing/append-load.ts'
import { newPrefix, openLog } from './testing/test-kafka.ts'

const PRODUCE = 0

let kafka: Pick<KafkaCluster, 'addresses'>
beforeAll(async () => {
  kafka = await brokerOfRun()
})

test('appends that come while a produce is under way go with the next one: one at a time, 64 records at most', async () => {
  await using log = await openLog(kafka, { partitions: 16 })
  await log.append(0, 'live', testRecord('source-a', 'first'))
  const { starts, most } = await produces(async () => {
    await Promise.all(Array.from({ length: 640 }, (_, i) => log.append(i % 16, 'live', testRecord('source-a', `${i}`))))
  })
  expect([starts, most]).toEqual([10, 1])
})

test('a single append does not wait for others', async () => {
  await using log = await openLog(kafka)
  await log.append(0, 'live', testRecord('source-a', 'first'))
  const { starts } = await produces(async () => {
    for (let i = 0; i < 20; i++) await log.append(0, 'live', testRecord('source-a', `${i}`))
  })
  expect(starts).toBe(20)
})

test('large records share a produce up to 4 MiB, and a batch never grows over the limit of its topic', async () => {
  // The topic takes batches of 2.1 MiB, so that 4 MiB for one partition are two produces.
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, partitions: 2, maxRecordBytes: 100_000 })
  await log.append(0, 'live', testRecord('source-a', 'first'))
  const appended = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((letter) => [
    log.append(0, 'live', testRecord('source-a', letter.repeat(700_000))),
    log.append(1, 'live', testRecord('source-b', letter.repeat(200_000))),
  ])
  await Promise.all(appended)
  for (const [partition, expected] of [
    [0, 'fabcdef'],
    [1, 'abcdef'],
  ] as const) {
    expect((await readAll(log, partition, 'live', 0, 1)).map((record) => noteOf(record)![0]).join('')).toBe(expected)
  }
})

test('a record that the topic does not take is refused alone, and names the limit', async () => {
  await using log = await openLog(kafka, { maxRecordBytes: 100_000 })
  await expect(log.append(0, 'live', testRecord('source-a', 'x'.repeat(1_200_000), 2))).rejects.toThrow(
    /a record of \d+ bytes is larger than max\.message\.bytes of the topic, 2197152/,
  )
  expect(log.trouble()).toBeUndefined()
  await log.append(0, 'live', testRecord('source-a', 'small'))
})

test('sixteen partitions and 64 writers: every record once, each writer in order', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, partitions: 16 })
  const load = new AppendLoad(log, 64)
  await load.progress(5_000)
  await load.stop()
  await using reader = await openLog(kafka, { prefix })
  expect(await load.brokenPromises(reader)).toEqual([])
  expect([load.unknown.size, load.refused.size]).toEqual([0, 0])
})

describe('a log that is closed', () => {
  test('finishes what was begun and refuses the rest', async () => {
    const prefix = newPrefix()
    const log = await openLog(kafka, { prefix })
    const begun = Array.from({ length: 200 }, (_, i) => log.append(0, 'live', testRecord('source-a', `${i}`)))
    const closed = log[Symbol.asyncDispose]()
    await expect(log.append(0, 'live', testRecord('source-a', 'late'))).rejects.toThrow('the log is closed')
    expect(await Promise.all(begun)).toEqual(Array.from({ length: 200 }, (_, i) => i))
    await closed
    await expect(log.read(0, 'live', 0, 1)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    await using again = await openLog(kafka, { prefix })
    expect(await readAll(again, 0, 'live')).toHaveLength(200)
  })
})

/** Produce requests while `work` runs, and the most of them at a time, by the client's own notices. */
async function produces(work: () => Promise<void>): Promise<{ starts: number; most: number }> {
  const name = 'tracing:plt:kafka:connections:api'
  let [starts, open, most] = [0, 0, 0]
  const isProduce = (message: unknown) => (message as { apiKey: number }).apiKey === PRODUCE
  const onStart = (message: unknown) => {
    if (!isProduce(message)) return
    starts++
    most = Math.max(most, ++open)
  }
  const onEnd = (message: unknown) => void (isProduce(message) && open--)
  const notices = [channel(`${name}:start`), channel(`${name}:asyncStart`)] as const
  notices[0].subscribe(onStart)
  notices[1].subscribe(onEnd)
  try {
    await work()
  } finally {
    notices[0].unsubscribe(onStart)
    notices[1].unsubscribe(onEnd)
  }
  return { starts, most }
}
