import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { noteOf, readAll, testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { AppendLoad } from './testing/append-load.ts'
import { newPrefix, openLog, startKafka } from './testing/test-kafka.ts'

let kafka: KafkaCluster
beforeAll(async () => {
  kafka = await startKafka({ brokers: 1 })
})
afterEach(() => kafka.brokers[0]!.resume())
afterAll(() => kafka[Symbol.asyncDispose]())

const unavailable = expect.objectContaining({ name: 'LogUnavailableError', code: 'LOG_UNAVAILABLE' })

test('a broker killed five times under appends: what was acknowledged is read back in order, nothing twice or in part', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, partitions: 4 })
  const load = new AppendLoad(log, 8)
  for (let kill = 0; kill < 5; kill++) {
    await load.progress(200)
    await kafka.brokers[0]!.kill()
    await expect.poll(() => log.trouble(), { timeout: 15_000 }).toBeDefined()
    await kafka.brokers[0]!.start()
  }
  await load.progress(200)
  await load.stop()
  expect(log.trouble()).toBeUndefined()
  await using reader = await openLog(kafka, { prefix })
  expect(await load.brokenPromises(reader)).toEqual([])
  expect(load.longestMs).toBeLessThan(11_000)
})

describe('a broker that is stopped, with its connections open', () => {
  test('appends fail within ten seconds, are then refused at once, and go on when it continues', async () => {
    const prefix = newPrefix()
    await using log = await openLog(kafka, { prefix })
    await log.append(0, 'live', testRecord('source-a', 'before'))
    await kafka.brokers[0]!.pause()
    const startedAt = performance.now()
    const failures = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => log.append(0, 'live', testRecord('source-a', `${i}`))),
    )
    const afterMs = performance.now() - startedAt
    expect(failures.map(({ status }) => status)).toEqual(failures.map(() => 'rejected'))
    expect(afterMs).toBeLessThan(10_500)
    // The first 64 were under way; whether they are stored cannot be known. The others were never sent.
    const isUnknown = failures.map((failure) => failure.status === 'rejected' && failure.reason.isUnknown)
    expect(isUnknown).toEqual(failures.map((_, i) => i < 64))
    expect(log.trouble()).toBeDefined()
    const refusedAt = performance.now()
    await expect(log.append(0, 'live', testRecord('source-a', 'refused'))).rejects.toEqual(unavailable)
    expect(performance.now() - refusedAt).toBeLessThan(100)
    kafka.brokers[0]!.resume()
    await expect.poll(() => log.trouble(), { timeout: 10_000 }).toBeUndefined()
    await log.append(0, 'live', testRecord('source-a', 'after'))
  })

  test('for six seconds: appends are repeated and acknowledged in time, and stored once', async () => {
    const prefix = newPrefix()
    await using log = await openLog(kafka, { prefix })
    await log.append(0, 'live', testRecord('source-a', 'before'))
    await kafka.brokers[0]!.pause()
    const notes = Array.from({ length: 64 }, (_, i) => `${i}`)
    const appended = Promise.all(notes.map((note) => log.append(0, 'live', testRecord('source-a', note))))
    // The first request is given up after five seconds, and lies in the broker's socket.
    await delay(6_000)
    kafka.brokers[0]!.resume()
    expect(await appended).toEqual(notes.map((_, i) => 1 + i))
    await using reader = await openLog(kafka, { prefix })
    expect((await readAll(reader, 0, 'live')).map(noteOf)).toEqual(['before', ...notes])
  })

  test('reads fail within ten seconds and go on when it continues', async () => {
    await using log = await openLog(kafka, { farCacheBytes: 0 })
    await using followed = await openLog(kafka)
    await followed.follow(0)
    for (const each of [log, followed]) await each.append(0, 'live', testRecord('source-a', 'x'))
    await kafka.brokers[0]!.pause()
    const startedAt = performance.now()
    const reads = [log.read(0, 'live', 0, 1_000), log.get(0, [0]), log.oldest(0), log.readEnds()]
    const results = await Promise.allSettled(reads)
    kafka.brokers[0]!.resume()
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'))
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    expect((await log.read(0, 'live', 0, 1_000)).records).toHaveLength(1)
    const heard = Promise.withResolvers<void>()
    followed.onCommit(() => heard.resolve())
    await followed.append(0, 'live', testRecord('source-a', 'y'))
    await heard.promise
    expect((await followed.read(0, 'live', 1, 1_000)).records).toHaveLength(1)
  })

  test('a log that is closed meanwhile leaves nothing open', async () => {
    const log = await openLog(kafka)
    await log.follow(0)
    await log.append(0, 'live', testRecord('source-a', 'before'))
    await kafka.brokers[0]!.pause()
    const begun = Promise.allSettled([log.append(0, 'live', testRecord('source-a', 'x')), log.readEnds()])
    await delay(100)
    const closed = log[Symbol.asyncDispose]()
    await expect(log.append(0, 'live', testRecord('source-a', 'late'))).rejects.toEqual(unavailable)
    await closed
    expect((await begun).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    kafka.brokers[0]!.resume()
    // The sockets to the brokers are gone: nothing keeps a process from ending.
    await expect.poll(openSockets).toBe(0)
  })
})

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length
}
