import { ENRICHMENT_RULES, type EventRecord, hash53, messageHash } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import type { Dedup } from './dedup.ts'
import { type EventLog, type LogWriter, type Offset, STREAMS, type Stream } from './event-log.ts'
import { framedRecords } from './frames.ts'

/** A record of `events` small events; `note` identifies it. */
export function testRecord(sourceId: string, note: string, events = 1): EventRecord {
  const batch = Array.from({ length: events }, (_, i) => ({ type: 'track', userId: 'u', messageId: `${note}-${i}` }))
  return {
    header: {
      sourceId,
      route: 'batch',
      acceptedAt: 1_772_615_731_900,
      clientAddress: '203.0.113.9',
      seed: new Uint8Array(16).fill(7),
      rules: ENRICHMENT_RULES,
      policySet: 0,
      messageHashes: Buffer.concat(batch.map(({ messageId }) => messageHash(messageId))),
    },
    body: Buffer.from(JSON.stringify({ note, batch })),
  }
}

export function noteOf(record: EventRecord | undefined): string | undefined {
  return record && JSON.parse(Buffer.from(record.body).toString()).note
}

/** Every record of a stream, by reading from `from` to the end in steps of `maxBytes`. */
export async function readAll(log: EventLog, partition: number, stream: Stream, from: Offset = 0, maxBytes = 2_000) {
  const found = []
  for (let at = from; ; ) {
    const { records, next } = await log.read(partition, stream, at, maxBytes)
    found.push(...records)
    if (records.length === 0 && next >= log.end(partition)) return found
    at = next
  }
}

/** Every record before `before`, newest first, by reading back in steps of `maxBytes`. */
export async function readAllBack(log: EventLog, partition: number, before: Offset, maxBytes = 2_000) {
  const found = []
  for (let at = before; at > 0; ) {
    const { frames, next } = await log.readBack(partition, at, maxBytes)
    found.push(...framedRecords(frames))
    at = next
  }
  return found
}

/** Every record from `from` on, in order, by scanning in steps of `maxBytes`. */
export async function scanAll(log: EventLog, partition: number, from: Offset, maxBytes = 2_000) {
  const found = []
  for (let at = from; at < log.end(partition); ) {
    const { frames, next } = await log.scan(partition, at, maxBytes)
    found.push(...framedRecords(frames))
    at = next
  }
  return found
}

/** What an engine does differently, and why; what is not named here, every engine does. */
export interface EngineDifferences {
  /**
   * A backfill of source partition p is in partition p + half of all: history must not delay live events, and each partition
   * of a broker has a counter of its own.
   */
  readonly keepsBackfillsApart?: boolean
  /** `append` decides no duplicates: processes that accept events do not know of each other. Readers decide, in log order. */
  readonly leavesDuplicates?: boolean
}

/** Tests that every engine of the event log must pass. `open` returns an empty log. */
export function describeEventLog(
  engine: string,
  open: () => Promise<EventLog & LogWriter>,
  { keepsBackfillsApart = false, leavesDuplicates = false }: EngineDifferences = {},
): void {
  const SOURCES = ['source-a', 'source-b', 'source-c', 'source-d', 'source-e']
  /** Partitions that a source can have. */
  const homes = ({ partitions }: EventLog) => (keepsBackfillsApart ? partitions / 2 : partitions)
  /** The partition of a source; any rule would do: whoever appends chooses. */
  const homeOf = (log: EventLog, sourceId: string) => hash53(sourceId) % homes(log)
  /** Where a record of a source partition lies. */
  const placeOf = (log: EventLog, home: number, stream: Stream) => {
    return keepsBackfillsApart && stream === 'backfill' ? home + homes(log) : home
  }
  const partitionOf = (log: EventLog, sourceId: string, stream: Stream = 'live') => {
    return placeOf(log, homeOf(log, sourceId), stream)
  }
  const append = (log: EventLog & LogWriter, stream: Stream, record: EventRecord, dedup?: Dedup) => {
    return log.append(homeOf(log, record.header.sourceId), stream, record, dedup)
  }

  describe(`event log: ${engine}`, () => {
    test.skipIf(leavesDuplicates)(
      'an event is a duplicate if its messageId came from the same source inside the window, whatever the stream',
      async () => {
        await using log = await open()
        const at = (seconds: number, sourceId: string, messageIds: readonly string[]) => {
          const record = testRecord(sourceId, `${seconds}`)
          const messageHashes = Buffer.concat(messageIds.map((messageId) => messageHash(messageId)))
          return { ...record, header: { ...record.header, acceptedAt: 1e12 + seconds * 1000, messageHashes } }
        }
        const told: (readonly number[])[] = []
        const dedup = { windowMs: 60_000, onDuplicates: (indexes: readonly number[]) => void told.push(indexes) }
        const cases: [Stream, EventRecord, typeof dedup | undefined, number[] | undefined][] = [
          ['live', at(0, 'source-a', ['m', 'n', 'm', 'm']), dedup, [2, 3]],
          ['live', at(59, 'source-a', ['n', 'o']), dedup, [0]],
          ['backfill', at(59.999, 'source-a', ['m', 'p']), dedup, [0]],
          ['live', at(59.999, 'source-b', ['m']), dedup, undefined],
          // A duplicate does not extend the window of the first event.
          ['live', at(60, 'source-a', ['m', 'n', 'o', 'p']), dedup, [2, 3]],
          ['live', at(61, 'source-a', ['q', 'q']), undefined, undefined],
          ['live', at(62, 'source-a', ['q', 'm']), dedup, [1]],
        ]
        const offsets = await Promise.all(cases.map(([stream, record, window]) => append(log, stream, record, window)))
        const expected = cases.map(([, , , duplicates]) => duplicates)
        expect(told).toEqual(expected.filter((each) => each !== undefined))
        for (const [i, [, { header }]] of cases.entries()) {
          const partition = partitionOf(log, header.sourceId)
          const [got] = await log.get(partition, [offsets[i]!])
          expect([i, got?.duplicates && [...got.duplicates]]).toEqual([i, expected[i]])
        }
        const partition = partitionOf(log, 'source-a')
        const read = await readAll(log, partition, 'live')
        const marks = new Map(read.map(({ offset, duplicates }) => [offset, duplicates && [...duplicates]]))
        expect(marks.get(offsets[0]!)).toEqual([2, 3])
        const range = { from: 0, to: log.end(partition) }
        expect((await log.tally(partition, 'live', range)).get('source-a')?.events).toBe(2 + 1 + 2 + 2 + 1)
        const part = { from: offsets[4]!, to: offsets[4]! + 1 }
        expect((await log.tally(partition, 'live', part)).get('source-a')?.events).toBe(2)
      },
    )

    test('records come back as appended: header, bytes and offset', async () => {
      await using log = await open()
      const record = testRecord('source-a', 'first', 3)
      const offset = await append(log, 'live', record)
      const partition = partitionOf(log, 'source-a')
      const [read] = await readAll(log, partition, 'live')
      const [got] = await log.get(partition, [offset])
      for (const stored of [read, got]) {
        expect(stored?.offset).toBe(offset)
        expect(Buffer.from(stored!.body)).toEqual(Buffer.from(record.body))
        expect({ ...stored!.header, seed: [], messageHashes: [] }).toEqual({
          ...record.header,
          seed: [],
          messageHashes: [],
        })
        expect(Buffer.from(stored!.header.seed)).toEqual(Buffer.from(record.header.seed))
        expect(Buffer.from(stored!.header.messageHashes)).toEqual(Buffer.from(record.header.messageHashes))
      }
    })

    test('records of one source keep the order of the calls, whichever way they are read', async () => {
      await using log = await open()
      await Promise.all(Array.from({ length: 300 }, (_, i) => append(log, 'live', testRecord(SOURCES[i % 5]!, `${i}`))))
      for (const maxBytes of [1, 3_000, 10_000_000]) {
        for (const [s, source] of SOURCES.entries()) {
          const all = await readAll(log, partitionOf(log, source), 'live', 0, maxBytes)
          const notes = all.filter((record) => record.header.sourceId === source).map(noteOf)
          expect(notes).toEqual(Array.from({ length: 60 }, (_, i) => `${i * 5 + s}`))
        }
      }
    })

    test('offsets grow inside a partition and `end` is past the last one', async () => {
      await using log = await open()
      for (let i = 0; i < 20; i++) {
        const stream = i % 3 === 0 ? 'backfill' : 'live'
        const offset = await append(log, stream, testRecord('source-a', `${i}`))
        expect(log.end(partitionOf(log, 'source-a', stream))).toBeGreaterThan(offset)
      }
      const partitions = STREAMS.map((stream) => partitionOf(log, 'source-a', stream))
      const streams = STREAMS.map((stream, i) => readAll(log, partitions[i]!, stream))
      const all = (await Promise.all(streams)).flatMap((records, i) => {
        return records.map(({ offset }) => `${partitions[i]} ${offset}`)
      })
      expect(new Set(all).size).toBe(20)
      const live = (await readAll(log, partitions[0]!, 'live')).map((record) => record.offset)
      expect(live).toEqual([...live].sort((a, b) => a - b))
    })

    test('the two streams are read apart and do not hide each other', async () => {
      await using log = await open()
      for (let i = 0; i < 10; i++) await append(log, i < 5 ? 'backfill' : 'live', testRecord('source-a', `${i}`))
      for (const [stream, first] of [
        ['live', 5],
        ['backfill', 0],
      ] as const) {
        const expected = [0, 1, 2, 3, 4].map((i) => `${first + i}`)
        expect((await readAll(log, partitionOf(log, 'source-a', stream), stream)).map(noteOf)).toEqual(expected)
      }
    })

    test('a read gives at least one record, however large, and no more than asked for', async () => {
      await using log = await open()
      for (let i = 0; i < 4; i++) await append(log, 'live', testRecord('source-a', `${i}`, 50))
      const partition = partitionOf(log, 'source-a')
      expect((await log.read(partition, 'live', 0, 1)).records).toHaveLength(1)
      const size = (await log.read(partition, 'live', 0, 1)).records[0]!.body.length
      expect((await log.read(partition, 'live', 0, size * 3)).records.length).toBeLessThanOrEqual(3)
    })

    test('reading at the end gives nothing, does not wait, and goes on from there later', async () => {
      await using log = await open()
      const partition = partitionOf(log, 'source-a')
      await append(log, 'live', testRecord('source-a', 'before'))
      const { records, next } = await log.read(partition, 'live', log.end(partition), 1_000)
      expect(records).toEqual([])
      await append(log, 'live', testRecord('source-a', 'after'))
      expect((await readAll(log, partition, 'live', next)).map(noteOf)).toEqual(['after'])
    })

    test('reading back gives both streams of a partition, newest first, whatever the size of the steps', async () => {
      await using log = await open()
      await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          append(log, i % 7 === 0 ? 'backfill' : 'live', testRecord(SOURCES[i % 5]!, `${i}`)),
        ),
      )
      for (let partition = 0; partition < log.partitions; partition++) {
        const streams = [await readAll(log, partition, 'live'), await readAll(log, partition, 'backfill')]
        const all = streams.flat().sort((a, b) => b.offset - a.offset)
        for (const maxBytes of [1, 3_000, 10_000_000]) {
          const back = await readAllBack(log, partition, log.end(partition), maxBytes)
          expect(back.map(({ offset }) => offset)).toEqual(all.map(({ offset }) => offset))
          expect(back.map(noteOf)).toEqual(all.map(noteOf))
          const scanned = await scanAll(log, partition, 0, maxBytes)
          expect(scanned.map(noteOf)).toEqual(all.map(noteOf).toReversed())
        }
        if (all.length === 0) continue
        const { header, body } = all[0]!
        const [newest] = framedRecords((await log.readBack(partition, log.end(partition), 1)).frames)
        expect(Buffer.from(newest!.body)).toEqual(Buffer.from(body))
        expect(newest!.header.sourceId).toBe(header.sourceId)
        expect(Buffer.from(newest!.header.messageHashes)).toEqual(Buffer.from(header.messageHashes))
      }
    })

    test('reading back begins before the offset given, also while more is appended, and finds nothing before the first', async () => {
      await using log = await open()
      const partition = partitionOf(log, 'source-a')
      expect(await log.readBack(partition, log.end(partition), 1_000)).toMatchObject({ next: 0 })
      const offsets: Offset[] = []
      for (let i = 0; i < 10; i++) offsets.push(await append(log, 'live', testRecord('source-a', `${i}`)))
      const before = readAllBack(log, partition, offsets[6]!, 1)
      const appended = append(log, 'live', testRecord('source-a', 'newer'))
      expect((await before).map(noteOf)).toEqual(['5', '4', '3', '2', '1', '0'])
      await appended
      expect(noteOf((await readAllBack(log, partition, log.end(partition)))[0])).toBe('newer')
      expect([...framedRecords((await log.readBack(partition, offsets[0]!, 1_000)).frames)]).toEqual([])
    })

    test('scanning begins at the offset given, and finds nothing at the end', async () => {
      await using log = await open()
      const partition = partitionOf(log, 'source-a')
      expect(await log.scan(partition, 0, 1_000)).toMatchObject({ next: log.end(partition) })
      const offsets: Offset[] = []
      const other = keepsBackfillsApart ? 'live' : 'backfill'
      for (let i = 0; i < 10; i++) {
        offsets.push(await append(log, i === 7 ? other : 'live', testRecord('source-a', `${i}`)))
      }
      expect((await scanAll(log, partition, offsets[6]!, 1)).map(noteOf)).toEqual(['6', '7', '8', '9'])
      const end = log.end(partition)
      expect(await log.scan(partition, end, 1_000)).toMatchObject({ next: end })
      expect([...framedRecords((await log.scan(partition, end, 1_000)).frames)]).toEqual([])
    })

    test('a commit is announced before its append resolves, and can then be read', async () => {
      await using log = await open()
      const announced: [number, Stream][] = []
      const stop = log.onCommit((partition, stream) => announced.push([partition, stream]))
      const offset = await append(log, 'backfill', testRecord('source-b', 'x'))
      expect(announced).toEqual([[partitionOf(log, 'source-b', 'backfill'), 'backfill']])
      expect(log.end(partitionOf(log, 'source-b', 'backfill'))).toBe(offset + 1)
      stop()
      await append(log, 'backfill', testRecord('source-b', 'y'))
      expect(announced).toHaveLength(1)
    })

    test('offsets that were never given out have no record', async () => {
      await using log = await open()
      const offset = await append(log, 'live', testRecord('source-a', 'x'))
      const partition = partitionOf(log, 'source-a')
      const [missing, present] = await log.get(partition, [offset + 1_000, offset])
      expect(missing).toBeUndefined()
      expect(noteOf(present)).toBe('x')
    })

    test('a record is in its partition only, whichever way it is read', async () => {
      await using log = await open()
      const last = homes(log) - 1
      const appended = await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const [home, stream] = [i % 3 === 0 ? last : 0, i % 2 === 0 ? 'live' : 'backfill'] as const
          const offset = await log.append(home, stream, testRecord('source-a', `${i}`))
          return { note: `${i}`, partition: placeOf(log, home, stream), offset }
        }),
      )
      for (let partition = 0; partition < log.partitions; partition++) {
        const own = appended.filter((each) => each.partition === partition)
        const expected = own.map(({ note }) => note)
        const offsets = own.map(({ offset }) => offset)
        const read = [...(await readAll(log, partition, 'live')), ...(await readAll(log, partition, 'backfill'))]
        const byNumber = (notes: (string | undefined)[]) => notes.toSorted((a, b) => Number(a) - Number(b))
        expect(byNumber(read.map(noteOf))).toEqual(expected)
        expect((await readAllBack(log, partition, log.end(partition))).map(noteOf)).toEqual(expected.toReversed())
        expect((await scanAll(log, partition, 0)).map(noteOf)).toEqual(expected)
        expect((await log.get(partition, offsets)).map(noteOf)).toEqual(expected)
        expect((await log.oldest(partition))?.offset).toBe(offsets[0])
        const range = { from: 0, to: log.end(partition) }
        const counted = await Promise.all([
          log.tally(partition, 'live', range),
          log.tally(partition, 'backfill', range),
        ])
        const events = counted.reduce((sum, tally) => sum + (tally.get('source-a')?.events ?? 0), 0)
        expect(events).toBe(expected.length)
      }
      await expect(log.append(log.partitions, 'live', testRecord('source-a', 'x'))).rejects.toThrow(RangeError)
    })

    test('records appended together keep their order in each partition, and share what is known of duplicates', async () => {
      await using log = await open()
      const told = new Map<string, readonly number[]>()
      const appendOf = (partition: number, note: string, ids: readonly string[]) => {
        const { header, body } = testRecord('source-a', note)
        const record = { body, header: { ...header, messageHashes: Buffer.concat(ids.map(messageHash)) } }
        const onDuplicates = (indexes: readonly number[]) => void told.set(note, indexes)
        return { partition, stream: 'live', record, dedup: { windowMs: 60_000, onDuplicates } } as const
      }
      const last = homes(log) - 1
      const appended = await Promise.all([
        log.appendAll([appendOf(0, 'a', ['m']), appendOf(last, 'b', ['n', 'm']), appendOf(0, 'c', ['o'])]),
        log.append(0, 'live', testRecord('source-a', 'd')),
        log.appendAll([appendOf(last, 'e', ['o', 'n', 'p'])]),
      ])
      const [[a, b, c], d, [e]] = appended
      const notes = async (partition: number) => (await readAll(log, partition, 'live')).map(noteOf)
      const inZero = await notes(0)
      expect(inZero).toEqual(last === 0 ? ['a', 'b', 'c', 'd', 'e'] : ['a', 'c', 'd'])
      if (last > 0) expect(await notes(last)).toEqual(['b', 'e'])
      expect((await log.get(0, [a!, c!, d])).map(noteOf)).toEqual(['a', 'c', 'd'])
      const duplicates = (await log.get(last, [b!, e!])).map((record) => record!.duplicates && [...record!.duplicates])
      expect(duplicates).toEqual(leavesDuplicates ? [undefined, undefined] : [[1], [0, 1]])
      const expected = [
        ['b', [1]],
        ['e', [0, 1]],
      ]
      expect([...told]).toEqual(leavesDuplicates ? [] : expected)
    })

    test('the tally of a range counts events and bytes by source and stream', async () => {
      await using log = await open()
      const offsets = []
      for (let i = 0; i < 6; i++) offsets.push(await append(log, 'live', testRecord('source-a', `${i}`, i + 1)))
      await append(log, 'backfill', testRecord('source-a', 'other stream', 100))
      await append(log, 'live', testRecord('source-b', 'other source', 9))
      const partition = partitionOf(log, 'source-a')
      const tally = await log.tally(partition, 'live', { from: offsets[1]!, to: offsets[4]! })
      expect(tally.get('source-a')?.events).toBe(2 + 3 + 4)
      expect(tally.get('source-a')?.bytes).toBeGreaterThan(0)
      const all = await log.tally(partitionOf(log, 'source-b'), 'live', {
        from: 0,
        to: log.end(partitionOf(log, 'source-b')),
      })
      expect(all.get('source-b')?.events).toBe(9)
      const apart = partitionOf(log, 'source-a', 'backfill')
      const backfill = await log.tally(apart, 'backfill', { from: 0, to: log.end(apart) })
      expect(backfill.get('source-a')?.events).toBe(100)
    })

    test('the oldest record is known, and an empty partition has none', async () => {
      await using log = await open()
      const partition = partitionOf(log, 'source-a')
      expect(await log.oldest(partition)).toBeUndefined()
      const offset = await append(log, 'live', testRecord('source-a', 'x'))
      await append(log, 'live', testRecord('source-a', 'y'))
      expect(await log.oldest(partition)).toEqual({ offset, acceptedAt: 1_772_615_731_900 })
    })

    test('a log in order says so', async () => {
      await using log = await open()
      await log.check()
      expect(log.trouble()).toBeUndefined()
      expect(log.damaged(0)).toEqual([])
    })
  })
}
