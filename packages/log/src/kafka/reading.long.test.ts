import { channel } from 'node:diagnostics_channel'
import { systemClock } from '@millrace/std'
import { produceV9 } from '@platformatic/kafka'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noteOf, readAll, readAllBack, scanAll, testRecord } from '../conformance.ts'
import type { StoredRecord } from '../event-log.ts'
import { duplicateBytes, framedRecords } from '../frames.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { brokerOfRun } from '../kafka-brokers/testing/test-run.ts'
import { KafkaConnections } from './connections.ts'
import { deleteRecords } from './testing/delete-records.ts'
import { newPrefix, openLog } from './testing/test-kafka.ts'

let kafka: Pick<KafkaCluster, 'addresses'>
let connections: KafkaConnections
beforeAll(async () => {
  kafka = await brokerOfRun()
  connections = new KafkaConnections({ brokers: kafka.addresses }, systemClock)
})
afterAll(() => connections.close())

test('what other processes append is announced and read in order while a partition is followed, and not after', async () => {
  const prefix = newPrefix()
  await using writer = await openLog(kafka, { prefix, partitions: 2 })
  await using other = await openLog(kafka, { prefix })
  await using reader = await openLog(kafka, { prefix })
  const announced: string[] = []
  reader.onCommit((partition, stream) => announced.push(`${partition} ${stream}`))
  const ends = await Promise.all([0, 1, 2, 3].map((partition) => reader.follow(partition)))
  for (let i = 0; i < 50; i++) {
    await (i % 2 === 0 ? writer : other).append(0, 'live', testRecord('source-a', `${i}`))
  }
  await writer.append(1, 'backfill', testRecord('source-b', 'history'))
  await expect.poll(() => [reader.end(0), reader.end(3)]).toEqual([50, 1])
  expect(new Set(announced)).toEqual(new Set(['0 live', '3 backfill']))
  expect((await readAll(reader, 0, 'live')).map(noteOf)).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`))
  expect((await readAll(reader, 3, 'backfill')).map(noteOf)).toEqual(['history'])
  for (const end of ends) end()
  await writer.append(0, 'live', testRecord('source-a', '50'))
  expect(reader.end(0)).toBe(50)
  expect(await reader.readEnds()).toEqual([51, 0, 0, 1])
  expect((await readAll(reader, 0, 'live', 50)).map(noteOf)).toEqual(['50'])
})

test('a later end is announced, also if a far read or a look at the ends found it: waiting readers need each of them', async () => {
  const prefix = newPrefix()
  await using writer = await openLog(kafka, { prefix })
  await using reader = await openLog(kafka, { prefix })
  await writer.append(0, 'live', testRecord('source-a', '0'))
  const announced: number[] = []
  reader.onCommit((partition) => announced.push(reader.end(partition)))
  await reader.readEnds()
  expect(announced).toEqual([1])
  // The answer to the read of the first record says where the partition ends by now.
  await writer.append(0, 'live', testRecord('source-a', '1'))
  await reader.read(0, 'live', 0, 1)
  expect(announced).toEqual([1, 2])
})

test('many readers at the end of a partition fetch its records once', async () => {
  const prefix = newPrefix()
  await using writer = await openLog(kafka, { prefix })
  await using log = await openLog(kafka, { prefix })
  await log.follow(0)
  const before = await fetchedRecords(async () => {
    for (let i = 0; i < 20; i++) await writer.append(0, 'live', testRecord('source-a', `${i}`))
    await expect.poll(() => log.end(0)).toBe(20)
    const readers = await Promise.all(Array.from({ length: 30 }, () => readAll(log, 0, 'live', 0, 300)))
    for (const records of readers) expect(records).toHaveLength(20)
  })
  // Not 30 times; a fetch that was not answered in time is repeated.
  expect(before).toBeGreaterThanOrEqual(20)
  expect(before).toBeLessThan(40)
})

test('small reads far from the end come from one fetch, and concurrent ones share it', async () => {
  const prefix = newPrefix()
  await using writer = await openLog(kafka, { prefix })
  await Promise.all(Array.from({ length: 200 }, (_, i) => writer.append(0, 'live', testRecord('source-a', `${i}`))))
  await using log = await openLog(kafka, { prefix })
  const fetched = await fetchedRecords(async () => {
    const readers = await Promise.all(Array.from({ length: 5 }, () => readAll(log, 0, 'live', 0, 1)))
    for (const records of readers) expect(records.map(noteOf)).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`))
    expect((await log.get(0, [3, 150, 7])).map(noteOf)).toEqual(['3', '150', '7'])
  })
  expect(fetched).toBe(200)
})

test('reading back goes over records larger than a fetch, and over many small ones', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, farCacheBytes: 0 })
  const notes: string[] = []
  for (let i = 0; i < 40; i++) {
    const note = i % 7 === 3 ? `${i}-${'x'.repeat(1_500_000)}` : `${i}`
    notes.push(note)
    await log.append(0, 'live', testRecord('source-a', note))
  }
  await Promise.all(
    Array.from({ length: 500 }, (_, i) => {
      notes.push(`small-${i}`)
      return log.append(0, 'live', testRecord('source-a', `small-${i}`))
    }),
  )
  for (const maxBytes of [1_000, 300_000, 5_000_000]) {
    const back = await readAllBack(log, 0, log.end(0), maxBytes)
    expect(back.length).toBe(notes.length)
    expect(
      back
        .map(noteOf)
        .toReversed()
        .every((note, i) => note === notes[i]),
    ).toBe(true)
    const forth = await scanAll(log, 0, 0, maxBytes)
    expect(forth.map(noteOf).every((note, i) => note === notes[i])).toBe(true)
  }
})

test('what retention deleted is told as a gap to who was there, and is nowhere else', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix })
  for (let i = 0; i < 10; i++) await log.append(0, 'live', testRecord('source-a', `${i}`))
  await using reader = await openLog(kafka, { prefix })
  await deleteRecords({ brokers: kafka.addresses }, systemClock, { topic: `${prefix}.live`, index: 0, before: 6 })
  await using newcomer = await openLog(kafka, { prefix })
  for (const each of [reader, newcomer]) {
    const result = await each.read(0, 'live', 2, 1)
    expect([noteOf(result.records[0]), result.next, result.gap]).toEqual(['6', 7, { from: 2, to: 6 }])
    expect((await each.read(0, 'live', 6, 1)).gap).toBeUndefined()
    expect((await each.get(0, [5, 6])).map(noteOf)).toEqual([undefined, '6'])
    expect((await readAllBack(each, 0, 10)).map(noteOf)).toEqual(['9', '8', '7', '6'])
    expect((await each.oldest(0))?.offset).toBe(6)
    expect((await each.tally(0, 'live', { from: 0, to: 10 })).get('source-a')?.events).toBe(4)
  }
  await deleteRecords({ brokers: kafka.addresses }, systemClock, { topic: `${prefix}.live`, index: 0, before: 10 })
  await using late = await openLog(kafka, { prefix })
  expect(await late.read(0, 'live', 3, 1_000)).toEqual({ records: [], next: 10, gap: { from: 3, to: 10 } })
  expect(await late.oldest(0)).toBeUndefined()
})

test('records are found by the time at which the broker stored them; the older half of retention is one unit', async () => {
  const prefix = newPrefix()
  let now = Date.now()
  const clock = { ...systemClock, now: () => now }
  await using log = await openLog(kafka, { prefix, clock, retentionMs: 86_400_000 })
  await log.append(0, 'live', testRecord('source-a', 'early'))
  const between = await afterNow()
  await log.append(0, 'live', testRecord('source-a', 'late'))
  const after = await afterNow()
  expect(await log.storedFrom(0, 0)).toBe(0)
  expect(await log.storedFrom(0, between)).toBe(1)
  expect(await log.storedFrom(0, after)).toBe(2)
  expect(await log.oldestUnit(0)).toBeUndefined()
  now = between + 43_200_000
  expect(await log.oldestUnit(0)).toEqual({ from: 0, to: 1 })
})

test('a record that is appended while its time is looked up is not passed over', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix, partitions: 64 })
  await using other = await openLog(kafka, { prefix })
  const hourAgo = Date.now() - 3_600_000
  for (let partition = 0; partition < 64; partition++) {
    const [found, appended] = await Promise.all([
      log.storedFrom(partition, hourAgo),
      other.append(partition, 'live', testRecord('source-a', 'x')),
    ])
    expect([partition, found]).toEqual([partition, appended])
  }
})

test('a reader behind the end of the log is told that records were lost, instead of waiting for their numbers', async () => {
  await using log = await openLog(kafka)
  await log.append(0, 'live', testRecord('source-a', 'x'))
  await expect(log.read(0, 'live', 7, 1_000)).rejects.toThrow(
    'partition 0 ends at 1, but its reader is at 7: Kafka lost records',
  )
})

test('a record of a later version stops its reader, and is not passed over', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix })
  await log.append(0, 'live', testRecord('source-a', 'known'))
  await connections.refresh([`${prefix}.live`])
  const value = Buffer.from([99, 1, 2, 3])
  const later = [{ topic: `${prefix}.live`, partition: 0, value }]
  await connections.call(connections.leader(`${prefix}.live`, 0)!, produceV9.api, -1, 4_000, later, {
    producerId: -1n,
    producerEpoch: -1,
    compression: 'none',
  })
  await log.readEnds()
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(log.read(0, 'live', 1, 1_000)).rejects.toThrow('record has unknown format 99')
  }
  const { records, next } = await log.read(0, 'live', 0, 1_000_000)
  expect([records.map(noteOf), next]).toEqual([['known'], 1])
})

test('so does a record under rules of a later version', async () => {
  await using log = await openLog(kafka)
  const { header, body } = testRecord('source-a', 'later')
  await log.append(0, 'live', testRecord('source-a', 'known'))
  await log.append(0, 'live', { header: { ...header, rules: header.rules + 1 }, body })
  await log.readEnds()
  await expect(log.read(0, 'live', 1, 1_000)).rejects.toThrow(`unknown enrichment rules ${header.rules + 1}`)
  const { records, next } = await log.read(0, 'live', 0, 1_000_000)
  expect([records.map(noteOf), next]).toEqual([['known'], 1])
})

/** Records in answers to fetches of this process, counted in the client's own notices. */
async function fetchedRecords(work: () => Promise<void>): Promise<number> {
  let records = 0
  const count = (message: unknown) => {
    const { result } = message as {
      result?: { responses?: { partitions?: { records?: { records: unknown[] }[] | null }[] }[] }
    }
    const partitions = result?.responses?.flatMap((response) => response.partitions ?? []) ?? []
    for (const partition of partitions) for (const batch of partition.records ?? []) records += batch.records.length
  }
  const notices = channel('tracing:plt:kafka:connections:api:asyncStart')
  notices.subscribe(count)
  try {
    await work()
  } finally {
    notices.unsubscribe(count)
  }
  return records
}

test('the rule for duplicates travels with a record, and every read shows the marks of its owner', async () => {
  const prefix = newPrefix()
  const marked = new Map([[1, duplicateBytes([0])]])
  const marks = { of: (partition: number) => (partition === 0 ? marked : new Map()) }
  await using writer = await openLog(kafka, { prefix, partitions: 2, compression: 'lz4' })
  await using log = await openLog(kafka, { prefix, marks })
  const rules = [{ windowMs: 60_000 }, undefined, { attempt: 'exit' }, { attempt: 'repeat' }] as const
  for (const [i, rule] of rules.entries()) await writer.append(0, 'live', testRecord('source-a', `${i}`), rule)
  await writer.appendAll([
    { partition: 1, stream: 'backfill', record: testRecord('source-b', 'x'), dedup: { windowMs: 5 } },
  ])
  await log.readEnds()
  const { records, next } = await log.readRules(0, 0, 1e6)
  expect([next, records.map(({ offset, rule }) => [offset, rule])]).toEqual([
    4,
    [
      [0, rules[0]],
      [2, rules[2]],
      [3, rules[3]],
    ],
  ])
  expect((await log.readRules(3, 0, 1e6)).records.map(({ rule }) => rule)).toEqual([{ windowMs: 5 }])
  const marksOf = (found: readonly (StoredRecord | undefined)[]) => {
    return found.map((record) => record?.duplicates && [...record.duplicates])
  }
  expect(marksOf((await log.read(0, 'live', 0, 1e6)).records)).toEqual([undefined, [0], undefined, undefined])
  expect(marksOf(await log.get(0, [1, 3]))).toEqual([[0], undefined])
  for (const { frames } of [await log.scan(0, 0, 1e6), await log.readBack(0, 4, 1e6)]) {
    const found = [...framedRecords(frames)].sort((a, b) => a.offset - b.offset)
    expect(marksOf(found)).toEqual([undefined, [0], undefined, undefined])
  }
  expect((await log.tally(0, 'live', { from: 0, to: 4 })).get('source-a')?.events).toBe(3)
})

test('a record that a topic deleted is gone at once, also for a process that did not follow it', async () => {
  const prefix = newPrefix()
  await using writer = await openLog(kafka, { prefix })
  await using log = await openLog(kafka, { prefix })
  for (let i = 0; i < 3; i++) await writer.append(0, 'live', testRecord('source-a', `${i}`))
  await log.readEnds()
  await deleteRecords({ brokers: kafka.addresses }, systemClock, { topic: `${prefix}.live`, index: 0, before: 3 })
  const startedAt = performance.now()
  expect(await log.get(0, [1])).toEqual([undefined])
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  expect((await log.scan(0, 0, 1e6)).next).toBe(3)
})

/** A millisecond that has passed, before the next record. */
async function afterNow(): Promise<number> {
  const now = Date.now() + 1
  await expect.poll(() => Date.now()).toBeGreaterThan(now)
  return now + 1
}
