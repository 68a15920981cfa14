import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventLog, MemoryEventLog, SqliteEventLog, type StoredRecord } from '@millrace/log'
import { hash53, type JsonObject, messageHash, normalizedId, storedEvents } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { GatewayUnderTest, KEY } from '../gateway-under-test.ts'
import { batchParts, textOf } from '../testing/json-texts.ts'

// contracts/delivery.md §4 [D151]

const root = mkdtempSync(join(tmpdir(), 'millrace-gateway-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const PARTITIONS = 4
const OWN = 3

type Spread = Parameters<typeof GatewayUnderTest.start>[0] & { readonly orderShards?: number }

function start({ orderShards = 3, ...setting }: Spread = {}): Promise<GatewayUnderTest> {
  const log = setting.log ?? new MemoryEventLog(PARTITIONS)
  const source = { id: 'source-1', partition: OWN, orderShards, ...setting.sources?.[KEY] }
  return GatewayUnderTest.start({ ...setting, log, sources: { [KEY]: source } })
}

/** The rule of the contract. */
function partitionOf(event: JsonObject, orderShards = 3): number {
  const id = normalizedId(event['anonymousId']) ?? normalizedId(event['userId'])
  return (OWN + (hash53(id!) % orderShards)) % PARTITIONS
}

/** By partition. */
async function recordsOf(log: EventLog): Promise<StoredRecord[][]> {
  const all: StoredRecord[][] = []
  for (let partition = 0; partition < log.partitions; partition++) {
    const found: StoredRecord[] = []
    for (let { records, next } = await log.read(partition, 'live', 0, 1e6); records.length > 0; ) {
      found.push(...records)
      ;({ records, next } = await log.read(partition, 'live', next, 1e6))
    }
    all.push(found)
  }
  return all
}

const eventsOf = (records: readonly StoredRecord[]) => records.flatMap((record) => storedEvents(record).events)

/** Without what depends on the record: its derived messageIds. */
function comparable(events: readonly JsonObject[]): string[] {
  const derived = /^[0-9a-f]{8}-[0-9a-f]{4}-4/
  return events.map((event) => {
    const { messageId, receivedAt: _, ...others } = event
    return JSON.stringify({ ...others, messageId: derived.test(messageId as string) ? 'derived' : messageId })
  })
}

describe('a batch of a source with several order shards', () => {
  test('is cut into one record for each partition; its events, their order and what the envelope gives them stay', async () => {
    await using spread = await start()
    await using whole = await start({ orderShards: 1 })
    const ends = Array.from({ length: PARTITIONS }, () => 0)
    const property = fc.asyncProperty(batchParts(), async (parts) => {
      const body = textOf(parts)
      const from = whole.log.end(OWN)
      const answers = [await spread.send({ path: '/v1/batch', body }), await whole.send({ path: '/v1/batch', body })]
      expect(answers.map(({ text }) => text)).toEqual(['OK', 'OK'])
      const [record] = (await whole.log.read(OWN, 'live', from, 1e6)).records
      expect(Buffer.from(record!.body).toString()).toBe(body)
      const { events, sentAt } = storedEvents(record!)
      for (const [partition, end] of ends.entries()) {
        const { records, next } = await spread.log.read(partition, 'live', end, 1e6)
        ends[partition] = next
        const expected = events.filter((event) => partitionOf(event) === partition)
        expect(records).toHaveLength(expected.length === 0 ? 0 : 1)
        expect(comparable(eventsOf(records))).toEqual(comparable(expected))
        for (const each of records) expect(storedEvents(each).sentAt).toEqual(sentAt)
      }
    })
    await fc.assert(property, { numRuns: 100 })
  })

  test('has records with seeds and hashes of their own', async () => {
    await using under = await start()
    const batch = Array.from({ length: 40 }, (_, i) => ({
      type: 'track',
      userId: `u${i}`,
      ...(i % 2 && { messageId: `m${i}` }),
    }))
    expect((await under.sendJson('/v1/batch', { batch })).text).toBe('OK')
    const records = (await recordsOf(under.log)).flat()
    expect(records).toHaveLength(3)
    expect(new Set(records.map(({ header }) => Buffer.from(header.seed).toString('hex'))).size).toBe(3)
    const messageIds = eventsOf(records).map(({ messageId }) => messageId)
    expect(new Set(messageIds).size).toBe(40)
    const hashes = Buffer.concat(records.map(({ header }) => header.messageHashes))
    expect(hashes).toEqual(Buffer.concat(messageIds.map(messageHash)))
    expect(under.gateway.metrics.sources().toArray()).toMatchObject([{ accepted: 40 }])
  })

  test('gives its parsed events to the readers of each record', async () => {
    await using under = await start()
    const batch = [1, 2, 3, 4, 5, 6].map((n) => ({ type: 'track', userId: `u${n}`, n }))
    await under.sendJson('/v1/batch', { writeKey: 'k', context: { app: 'x' }, batch, sentAt: 's' })
    const records = (await recordsOf(under.log)).flat()
    expect(records.length).toBeGreaterThan(1)
    for (const record of records) {
      expect(under.kept.get(record.header)).toEqual(JSON.parse(Buffer.from(record.body).toString()))
    }
  })

  test('is refused if the copies of its envelope would be far larger than a body may be', async () => {
    await using under = await start({ limits: { maxBodyBytes: 400_000 } })
    const batch = Array.from({ length: 40 }, (_, i) => ({ type: 'track', userId: `u${i}` }))
    const body = (bytes: number) => ({ pad: 'x'.repeat(bytes), batch })
    expect((await under.sendJson('/v1/batch', body(210_000))).text).toBe('OK')
    const refused = await under.sendJson('/v1/batch', body(230_000))
    expect([refused.status, refused.text]).toEqual([413, 'Request size exceeds max limit'])
    expect((await recordsOf(under.log)).flat()).toHaveLength(3)
  })

  test('that cannot be written is answered with 503, forgotten, and does not count towards the rate limit', async () => {
    await using under = await start({ sources: { [KEY]: { rateLimitEventsPerMinute: 10 } } })
    const batch = Array.from({ length: 10 }, (_, i) => ({ type: 'track', userId: `u${i}` }))
    under.appendsFailWith = new Error('disk')
    expect((await under.sendJson('/v1/batch', { batch })).status).toBe(503)
    expect(under.kept.size).toBe(0)
    under.appendsFailWith = undefined
    expect((await under.sendJson('/v1/batch', { batch })).text).toBe('OK')
  })
})

test('a single event is one record, as received, in the partition of its anonymousId, else its userId', async () => {
  await using under = await start()
  const ids = [
    { userId: 'u' },
    { userId: 'u', anonymousId: 'a' },
    { anonymousId: ' a ' },
    { userId: 7 },
    { userId: '7' },
  ]
  const bodies = ids.map((id) => ` ${JSON.stringify(id)}`)
  for (const body of bodies) expect((await under.send({ path: '/v1/track', body })).text).toBe('OK')
  const pixel = `/pixel/v1/page?writeKey=${KEY}&anonymousId=a`
  expect((await under.send({ method: 'GET', path: pixel, headers: {} })).status).toBe(200)
  const found = (await recordsOf(under.log)).map((records) => records.map(({ body }) => Buffer.from(body).toString()))
  const expected = Array.from({ length: PARTITIONS }, (_, partition) =>
    bodies.filter((_, i) => partitionOf(ids[i]!) === partition),
  )
  expected[partitionOf({ anonymousId: 'a' })]!.push(pixel.slice(pixel.indexOf('?') + 1))
  expect(found).toEqual(expected)
})

test.each([
  [1, PARTITIONS],
  [64, 1],
])('with %i order shards and %i partitions a batch is one record, as received', async (orderShards, partitions) => {
  await using under = await start({
    orderShards,
    log: new MemoryEventLog(partitions),
    sources: { [KEY]: { partition: 0 } },
  })
  const body = ' {"batch":[{"type":"track","userId":"a"} , {"type":"track","userId":"b"}],"writeKey":"x"}'
  expect((await under.send({ path: '/v1/batch', body })).text).toBe('OK')
  expect((await recordsOf(under.log)).flat().map((record) => Buffer.from(record.body).toString())).toEqual([body])
})

test('more order shards than partitions use every partition, with one record for each', async () => {
  await using under = await start({ orderShards: 64 })
  const batch = Array.from({ length: 400 }, (_, i) => ({ type: 'track', userId: `u${i}` }))
  await under.sendJson('/v1/batch', { batch })
  const records = await recordsOf(under.log)
  expect(records.map(({ length }) => length)).toEqual([1, 1, 1, 1])
  for (const [partition, own] of records.entries()) {
    expect(eventsOf(own).map((event) => partitionOf(event, 64))).toEqual(eventsOf(own).map(() => partition))
  }
})

test('a webhook with several events is cut as well, and their bytes stay', async () => {
  const paths = { event: 'kind', userId: 'who', anonymousId: '', messageId: '' }
  await using under = await start({ sources: { [KEY]: { webhook: { paths } } } })
  const elements = [
    '{"who":"ada", "n":1.0}',
    '{"who":"bob","n":[ 2 ]}',
    '{"who":"ada","n":3}',
    '{"who":"eve","n":4}',
    '{"n":5}',
  ]
  const answer = await under.send({ path: `/hooks/${KEY}`, headers: {}, body: `[ ${elements.join(' , ')} ]` })
  expect(answer.text).toBe('OK')
  const records = await recordsOf(under.log)
  const seen = []
  for (const [partition, own] of records.entries()) {
    expect(own.length).toBeLessThanOrEqual(1)
    for (const { body } of own) {
      const text = Buffer.from(body).toString()
      expect(text).toMatch(/^\{"paths":\{"event":"kind",.*\},"payload":\[/)
      for (const [i, element] of elements.entries()) {
        if (!text.includes(element)) continue
        seen.push(i)
        if (i < 4) expect(partitionOf({ userId: JSON.parse(element).who })).toBe(partition)
      }
    }
  }
  expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4])
  expect(records.filter(({ length }) => length > 0).length).toBeGreaterThan(1)
})

describe('duplicates of a source with several order shards', () => {
  const batch = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ type: 'track', userId: `u${from + i}`, messageId: `m${from + i}` }))

  test.each([
    ['its window', 'window', { dedupWindowSeconds: 3_600 }, undefined, undefined],
    ['the attempts of the client', 'attempts', {}, 'exit', 'repeat'],
  ])('are found by %s, over restarts', async (_, name, dedup, first, second) => {
    const openLog = () =>
      SqliteEventLog.open({ directory: join(root, name), clock: systemClock, cacheBytes: 0, partitions: PARTITIONS })
    {
      await using under = await start({ log: await openLog(), sources: { [KEY]: dedup } })
      expect((await under.sendJson('/v1/batch', { batch: batch(0, 30), attempt: first })).text).toBe('OK')
    }
    await using under = await start({ log: await openLog(), sources: { [KEY]: dedup } })
    expect((await under.sendJson('/v1/batch', { attempt: second, batch: batch(10, 30) })).text).toBe('OK')
    const records = (await recordsOf(under.log)).flat().filter(({ offset }) => offset >= 3)
    const marked = records.flatMap((record) => {
      return storedEvents(record).events.filter((_, i) => record.duplicates?.has(i) === true)
    })
    expect(marked.map(({ messageId }) => messageId).toSorted()).toEqual(batch(10, 20).map(({ messageId }) => messageId))
    expect(under.gateway.metrics.sources().toArray()).toMatchObject([{ accepted: 10 }])
  })
})
