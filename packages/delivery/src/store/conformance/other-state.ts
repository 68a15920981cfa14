import { expect, test } from 'vitest'
import type { Span } from '../span-store.ts'
import { eventAt, laneOf, type MakePlace, NOW, withStore } from './store-place.ts'

/** Kept records, statistics, spans, the message index, and runs. */
export function testOtherState(makePlace: MakePlace): void {
  test('records that the log gave up are kept until nobody needs them', () =>
    withStore(
      makePlace,
      async (store) => {
        const kept = (offset: number, sourceId: string) => ({
          ...{ offset, stream: 0, sourceId, events: 2, bytes: Buffer.from(`record ${offset}`), duplicates: null },
        })
        await store.backlog.keepRecords({ partition: 0, records: [kept(3, 's1'), kept(5, 's2'), kept(4, 's1')] })
        await store.backlog.keepRecords({ partition: 0, records: [kept(3, 's1')] })
      },
      async (store) => {
        expect(await store.backlog.keptRanges()).toEqual([{ partition: 0, from: 3, to: 6 }])
        const read = await store.backlog.readKept({ partition: 0, stream: 0, from: 4, maxBytes: 1_000 })
        expect(read.map(({ offset, bytes }) => [offset, Buffer.from(bytes).toString()])).toEqual([
          [4, 'record 4'],
          [5, 'record 5'],
        ])
        const tally = await store.backlog.tallyKept({ partition: 0, stream: 0, from: 0, to: 5 })
        expect(tally).toEqual([['s1', { events: 4, bytes: 16 }]])
        await store.backlog.dropKept({ partition: 0, before: 5 })
        expect(await store.backlog.getKept({ partition: 0, offsets: [3, 4, 5] })).toMatchObject([{ offset: 5 }])
      },
    ))

  test('parts of a statistics step add up with their durations, and steps without anything are known', () =>
    withStore(makePlace, async (store) => {
      const row = {
        kind: 'destination',
        id: 'd1',
        counts: [1, 2, 0, 0, 0],
        waiting: 3,
        durations: [0, 5, 200],
      } as const
      const shard = { ...row, counts: [0, 0, 0, 0, 0], durations: [1, 0, 0, 70_000] }
      const reasons = [{ destinationId: 'd1', outcome: 'dead_lettered', reason: 'answered 400', count: 2 }]
      for (let i = 0; i < 2; i++)
        await store.statistics.add({ at: 300_000, rows: [row], reasons, lastEvents: [['s1', 7 + i]] })
      const source = { kind: 'source', id: 's1', counts: [1, 0], waiting: 0, durations: [] } as const
      await store.statistics.add({ at: 300_000, rows: [shard, source], reasons: [], lastEvents: [] })
      await store.statistics.add({ at: 600_000, rows: [], reasons: [], lastEvents: [] })
      const subjects = [['destination', 'd1'] as const, ['source', 's1'] as const]
      const { known, rows } = await store.statistics.read({ from: 300_000, to: 900_000, subjects })
      expect(known).toEqual([300_000, 600_000])
      expect(rows).toMatchObject([
        [{ at: 300_000, counts: [2, 4, 0, 0, 0], waiting: 3, durations: [1, 10, 400, 70_000] }],
        [{ at: 300_000, counts: [1, 0, 0, 0, 0], durations: [] }],
      ])
      expect(await store.statistics.reasons({ from: 0, to: 900_000 })).toEqual([{ ...reasons[0], count: 4 }])
      expect(await store.statistics.lastEvents()).toEqual([['s1', 8]])
    }))

  test('spans of a resource are replaced together and dropped one by one', () =>
    withStore(makePlace, async (store) => {
      const span = (resource: string, fromOffset: number, toOffset: number | null): Span => {
        const between = { sourceId: 's1', destinationId: 'd1', partition: 0 }
        return { kind: 'connection', resource, ...between, fromOffset, toOffset }
      }
      await store.spans.write({ put: [span('c1', 1, 5), span('c1', 7, null), span('c2', 3, null)], remove: [] })
      await store.spans.drop([span('c1', 1, 5)])
      await store.spans.write({ put: [span('c3', 9, null)], remove: [span('c2', 0, null)] })
      const all = (await store.spans.all()).map(({ resource, fromOffset }) => [resource, fromOffset])
      expect(all.toSorted()).toEqual([
        ['c1', 7],
        ['c3', 9],
      ])
    }))

  test('a messageId leads to its events', () =>
    withStore(makePlace, async (store) => {
      const entry = Buffer.alloc(16)
      entry.write('8 bytes!', 'latin1')
      entry.writeUIntLE(77, 8, 6)
      entry.writeUInt16LE(3, 14)
      const position = { reader: 'messages', partition: 0, stream: 0, position: { offset: 78, index: 0 } }
      await store.messages.write({ partition: 0, lastOffset: 77, entries: entry, position })
      expect(await store.messages.find(entry.subarray(0, 8))).toEqual([{ partition: 0, offset: 77, index: 3 }])
      expect(await store.messages.find(Buffer.from('7 bytes!'))).toEqual([])
      expect(await store.outcomes.positions()).toEqual([position])
    }))

  test('a start learns of runs that did not end in order, and of the event that ran alone', () =>
    withStore(
      makePlace,
      async (store) => {
        expect(await store.runs.begin(NOW)).toEqual({ uncleanEnds: 0, underWay: undefined })
        await store.noteUnderWay(underWay, { isRecorded: false })
      },
      async (store) => {
        expect(await store.runs.begin(NOW)).toEqual({ uncleanEnds: 1, underWay })
        expect([await store.runs.countRead(), await store.runs.countRead()]).toEqual([0, 1])
        await store.runs.clear()
        await store.runs.end()
        expect(await store.runs.begin(NOW)).toEqual({ uncleanEnds: 1, underWay: undefined })
      },
    ))

  test('the note of an event that runs alone ends with the flush of its outcome', () =>
    withStore(makePlace, async (store) => {
      await store.runs.begin(NOW)
      const event = eventAt(1)
      await store.noteUnderWay(underWay, event)
      laneOf(store, 'd1', 2).delivered(event, 200, 1, NOW, 1)
      await store.flush()
      expect(await store.runs.begin(NOW)).toMatchObject({ underWay: undefined })
    }))

  test('hashes of messageIds and ranges leave with the records that they are about', () =>
    withStore(makePlace, async (store, clock) => {
      const hash = Buffer.from('8 bytes!')
      const entry = Buffer.concat([hash, Buffer.alloc(8)])
      const position = { reader: 'messages', partition: 0, stream: 0, position: { offset: 78, index: 0 } }
      await store.messages.write({ partition: 0, lastOffset: 77, entries: entry, position })
      const range = { destinationId: 'd1', sourceId: null, partition: 0, fromOffset: 5, toOffset: 7 } as const
      await store.outcomes.expireRange({ ...range, outcome: 'expired', reason: 'gone', count: 1, at: NOW })
      await clock.advance(2 * 24 * 3_600_000)
      const tidy = (offset: number) =>
        store.tidy({ finalBefore: NOW, logOldest: [{ partition: 0, offset }], maxBytes: 1e9 })
      const kept = async () => [
        (await store.messages.find(hash)).length,
        (await store.outcomes.recorded({ partition: 0, offset: 6, index: 0, sourceId: 's1' })).length,
      ]
      await tidy(7)
      expect(await kept()).toEqual([1, 1])
      await tidy(77)
      expect(await kept()).toEqual([1, 0])
      await tidy(78)
      expect(await kept()).toEqual([0, 0])
    }))
}

const underWay = {
  ...{
    destinationId: 'd1',
    sourceId: 's1',
    partition: 0,
    stream: 0,
    offset: 1,
    index: 0,
    acceptedAt: NOW,
    sizeBytes: 10,
  },
  replayed: null,
}
