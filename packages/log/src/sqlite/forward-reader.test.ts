import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENRICHMENT_RULES, type EventRecord, messageHash } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import type { Stream } from '../event-log.ts'
import { framedRecords } from '../frames.ts'
import { ForwardReader } from './forward-reader.ts'
import { Segment } from './segments/segment.ts'
import { removeSegment, segmentPath, setAside } from './segments/segment-files.ts'
import { SqliteEventLog } from './sqlite-event-log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-forward-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('reads each stream in order, over segments that are closed meanwhile, and nothing twice', async () => {
  const directory = join(root, 'log')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock, segmentBytes: 40_000 })
  const damage: unknown[] = []
  const reader = new ForwardReader(directory, (...what) => damage.push(what))
  const sent: Record<Stream, string[]> = { live: [], backfill: [] }
  const read: Record<Stream, string[]> = { live: [], backfill: [] }
  const positions: Record<Stream, number> = { live: 0, backfill: 0 }
  for (let n = 0; n < 60; n++) {
    const stream = n % 3 === 0 ? 'backfill' : 'live'
    await log.append(0, stream, recordOf(`${n}`))
    sent[stream].push(`${n}`)
    if (n % 7 === 0) follow()
  }
  follow()
  expect(read).toEqual(sent)
  expect(positions).toEqual({ live: log.end(0), backfill: log.end(0) })
  expect(damage).toEqual([])

  function follow(): void {
    for (const each of ['live', 'backfill'] as const) {
      for (let count = -1; count !== 0; ) {
        const { records, next } = reader.read(0, each, positions[each], log.end(0), 1_000)
        positions[each] = next
        count = records.length
        read[each].push(...records.map(({ body }) => Buffer.from(body).toString()))
      }
    }
  }
})

test('sees what is made, dropped, set aside and written again between two reads', async () => {
  const directory = join(root, 'meanwhile')
  const damage: unknown[] = []
  const reader = new ForwardReader(directory, (...what) => damage.push(what))
  const readAt = (from: number, end: number) => {
    const { records, next } = reader.read(0, 'live', from, end, 1)
    return { bodies: records.map(({ body }) => Buffer.from(body).toString()), next }
  }
  for (const names of ['ab', 'cd', 'ef']) {
    await using log = await SqliteEventLog.open({ directory, clock: systemClock })
    for (const name of names) await log.append(0, 'live', recordOf(name))
    if (names === 'ab') expect(readAt(0, log.end(0))).toEqual({ bodies: ['a'], next: 1 })
  }
  expect(readAt(1, 6)).toEqual({ bodies: ['b'], next: 2 })
  // Made.
  expect(readAt(2, 6)).toEqual({ bodies: ['c'], next: 3 })
  // Set aside, while the next record would have come from it.
  setAside(segmentPath(directory, 2))
  expect(readAt(3, 6)).toEqual({ bodies: ['e'], next: 5 })
  // Dropped.
  removeSegment(segmentPath(directory, 4))
  expect(readAt(5, 6)).toEqual({ bodies: [], next: 6 })
  expect(readAt(0, 6)).toEqual({ bodies: ['a'], next: 1 })
  expect(damage).toEqual([])
})

test('with any limit a read returns a record, or passes segments without one', async () => {
  const directory = join(root, 'limit')
  for (const stream of ['backfill', 'live'] as const) {
    await using log = await SqliteEventLog.open({ directory, clock: systemClock })
    await log.append(0, stream, recordOf(stream))
  }
  const reader = new ForwardReader(directory, () => {})
  for (const maxBytes of [0, 1]) {
    expect(reader.read(0, 'live', 0, 2, maxBytes)).toMatchObject({ records: [{ offset: 1 }], next: 2 })
    expect(reader.read(0, 'backfill', 1, 2, maxBytes)).toEqual({ records: [], next: 2 })
  }
  reader.release()
})

test('sees what is written to a segment that was closed with nothing in it', async () => {
  const directory = mkdtempSync(join(root, 'again-'))
  const closed = Segment.begin(directory, 0)
  closed.checkpoint()
  closed.close()
  const reader = new ForwardReader(directory, () => {})
  expect(reader.read(0, 'live', 0, 1, 1_000)).toEqual({ records: [], next: 1 })
  await using log = await SqliteEventLog.open({ directory, clock: systemClock })
  expect(await log.append(0, 'live', recordOf('again'))).toBe(0)
  expect(reader.read(0, 'live', 0, 1, 1_000).records.map(({ offset }) => offset)).toEqual([0])
})

test('a record under the rules of a later version stops its readers, which never pass over it', async () => {
  await using log = await SqliteEventLog.open({ directory: join(root, 'later'), clock: systemClock, cacheBytes: 0 })
  const later = recordOf('later')
  const rules = ENRICHMENT_RULES + 1
  await log.append(0, 'live', recordOf('known'))
  await log.append(0, 'live', { ...later, header: { ...later.header, rules } })
  await log.append(0, 'live', recordOf('behind'))
  const forward = new ForwardReader(join(root, 'later'), () => {})
  const reads = [
    (from: number) => log.read(0, 'live', from, 1_000_000),
    async (from: number) => forward.read(0, 'live', from, 3, 1_000_000),
  ]
  for (const read of reads) {
    expect(await read(0)).toMatchObject({ records: [{ offset: 0 }], next: 1 })
    await expect(read(1)).rejects.toThrow(`record has unknown enrichment rules ${rules}`)
  }
  const { frames } = await log.scan(0, 0, 1_000_000)
  expect(() => [...framedRecords(frames)]).toThrow(`record has unknown enrichment rules ${rules}`)
  // Counts need no rules.
  expect(await log.tally(0, 'live', { from: 1, to: 3 })).toMatchObject(new Map([['source', { events: 2 }]]))
  forward.release()
})

test('released, it keeps no file of the log open', async () => {
  const directory = join(root, 'released')
  const log = await SqliteEventLog.open({ directory, clock: systemClock })
  await log.append(0, 'live', recordOf('a'))
  const reader = new ForwardReader(directory, () => {})
  expect(reader.read(0, 'live', 0, 1, 1_000).next).toBe(1)
  reader.release()
  await log[Symbol.asyncDispose]()
  // SQLite takes the files beside a database away when the last connection is closed.
  expect(readdirSync(directory)).toEqual(['0.db'])
  expect(reader.read(0, 'live', 0, 1, 1_000).next).toBe(1)
})

test('tells which events are duplicates', async () => {
  const directory = join(root, 'dedup')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock, hasDedup: true })
  for (const _ of [1, 2]) await log.append(0, 'live', recordOf('same'), { windowMs: 60_000 })
  const { records } = new ForwardReader(directory, () => {}).read(0, 'live', 0, log.end(0), 1_000_000)
  expect(records.map(({ duplicates }) => duplicates && [...duplicates])).toEqual([undefined, [0]])
})

test('a segment whose tables are being written at this moment holds nothing yet, and is no damage', async () => {
  const directory = join(root, 'begun')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock })
  await log.append(0, 'live', recordOf('first'))
  const elsewhere = mkdtempSync(join(root, 'next-'))
  const next = Segment.begin(elsewhere, 1)
  const [from, into] = [segmentPath(elsewhere, 1), segmentPath(directory, 1)]
  for (const ending of ['', '-wal']) copyFileSync(from + ending, into + ending)
  next.close()
  // The last frame makes it a commit.
  truncateSync(`${into}-wal`, statSync(`${into}-wal`).size - 1)
  const damage: unknown[] = []
  const reader = new ForwardReader(directory, (...what) => damage.push(what))
  expect(reader.read(0, 'live', 0, 1, 1_000).records.map(({ offset }) => offset)).toEqual([0])
  expect(reader.read(0, 'live', 1, 1, 1_000)).toEqual({ records: [], next: 1 })
  expect(damage).toEqual([])
  for (const ending of ['', '-wal', '-shm']) rmSync(into + ending, { force: true })
})

function recordOf(text: string): EventRecord {
  const header = {
    sourceId: 'source',
    route: 'track' as const,
    acceptedAt: Date.now(),
    clientAddress: '127.0.0.1',
    seed: new Uint8Array(16),
    rules: 1,
    policySet: 0,
    messageHashes: messageHash('m'),
  }
  return { header, body: Buffer.from(text) }
}

test('reads all partitions in the order of their common offsets', async () => {
  const directory = join(root, 'partitions')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock, partitions: 3 })
  for (const [n, partition] of [2, 0, 1, 2, 0].entries()) await log.append(partition, 'live', recordOf(`${n}`))
  await log.append(1, 'backfill', recordOf('history'))
  const reader = new ForwardReader(directory, () => {})
  const { records, next } = reader.readAll('live', 1, 6, 1_000_000)
  expect([records.map(({ body }) => body.toString()), next]).toEqual([['1', '2', '3', '4'], 6])
  const [first, , third] = records
  const cut = reader.readAll('live', 1, 6, third!.body.length)
  expect(cut).toEqual({ records: [first], next: 2 })
})

test('a record behind the given end is not read, although the file has it already', async () => {
  const directory = join(root, 'end')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock })
  for (const name of 'abc') await log.append(0, 'live', recordOf(name))
  const reader = new ForwardReader(directory, () => {})
  const readTo = (end: number, from = 0) => {
    const { records, next } = reader.read(0, 'live', from, end, 1_000_000)
    return [records.map(({ body }) => body.toString()).join(''), next]
  }
  expect(readTo(2)).toEqual(['ab', 2])
  expect(readTo(2, 2)).toEqual(['', 2])
  expect(readTo(3, 2)).toEqual(['c', 3])
})
