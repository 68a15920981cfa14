import { ThreadEndedError } from '@millrace/std'
import { expect, test } from 'vitest'
import type { RangeWrite } from '../outcome-store.ts'
import { outcomesBehind } from '../outcomes/outcomes-of-events.ts'
import {
  eventAt,
  laneOf,
  letter,
  type MakePlace,
  NOW,
  REQUEST,
  recordedAt,
  rowEvent,
  wait,
  withStore,
} from './store-place.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Outcomes of events: positions, restarts, ranges, retention. */
export function testOutcomes(makePlace: MakePlace): void {
  test('an outcome is recorded at its event, with the position behind it and the versions of its revision', () =>
    withStore(
      makePlace,
      async (store) => {
        const outcomes = laneOf(store, 'd1', 9)
        outcomes.noteVersions(2, ['v1', 'v2'])
        outcomes.delivered(eventAt(4, 1), 204, 12.4, NOW, 2)
        outcomes.filtered(eventAt(5), 'event filter', NOW, 1)
        expect(outcomes.unwritten).toBe(2)
        await store.flush()
        expect(outcomes.unwritten).toBe(0)
      },
      async (store) => {
        const at = (offset: number, index: number) => recordedAt(store, offset, index)
        const plain = { kind: 'plain', replayId: null, at: NOW }
        expect(await at(4, 1)).toMatchObject([
          [
            'd1',
            { ...plain, outcome: 'delivered', status: 204, durationMs: 12, revision: 2, versionIds: ['v1', 'v2'] },
          ],
        ])
        expect(await at(5, 0)).toMatchObject([['d1', { ...plain, outcome: 'filtered', reason: 'event filter' }]])
        expect(await at(4, 0)).toEqual([])
        const position = { partition: 0, stream: 0, position: { offset: 9, index: 0 } }
        expect(await store.outcomes.positions()).toEqual([{ reader: 'd1', ...position }])
        const hour = Math.floor(NOW / HOUR_MS)
        const since = (from: number) => store.outcomes.deliveredSince({ destinationId: 'd1', hour: from })
        expect([await since(hour), await since(hour + 1)]).toEqual([1, 0])
      },
    ))

  test('a restart goes on with what waits, and knows what is done behind the position', () =>
    withStore(
      makePlace,
      async (store) => {
        const outcomes = laneOf(store, 'd1', 2)
        for (const offset of [7, 3]) outcomes.journey(eventAt(offset), wait(offset))
        outcomes.delivered(eventAt(5), 200, 1, NOW, 1)
        laneOf(store, 'd2', 1).journey(eventAt(8), wait(8, { destinationId: 'd2' }))
        await store.flush()
        outcomes.delivered(rowEvent(3), 200, 1, NOW, 1)
      },
      async (store) => {
        const { waiting, done } = await store.outcomes.resume({ destinationId: 'd1', partitions: [0] })
        expect(waiting.map(({ offset, requests }) => [offset, requests])).toEqual([[7, null]])
        expect(done.toSorted()).toEqual([
          [0, 3, 0],
          [0, 5, 0],
        ])
        const at = { partition: 0, index: 0, replayId: null, letterId: null }
        const events = [7, 5].map((offset) => ({ ...at, offset }))
        expect(await store.outcomes.histories({ destinationId: 'd1', events })).toEqual([[REQUEST], []])
      },
    ))

  test('a range is an outcome of all events in it that have none of their own', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 20)
      for (const offset of [3, 4]) outcomes.journey(eventAt(offset), wait(offset))
      await store.flush()
      const inFlight = [{ offset: 4, index: 0 }]
      const range: RangeWrite = {
        ...{ destinationId: 'd1', sourceId: 's1', partition: 0, fromOffset: 2, toOffset: 10 },
        ...{ outcome: 'expired', reason: 'storage budget', count: 1, at: NOW },
      }
      await store.outcomes.expireWaiting({
        ...{ destinationId: 'd1', partition: 0, before: 10, inFlight, ranges: [range] },
        positions: [{ reader: 'd1', partition: 0, stream: 0, position: { offset: 25, index: 1 } }],
      })
      expect(await store.outcomes.positions()).toMatchObject([{ reader: 'd1', position: { offset: 25, index: 1 } }])
      outcomes.placed(await store.outcomes.positions())
      outcomes.moved()
      await store.flush()
      expect(await store.outcomes.positions(), 'it went back').toMatchObject([{ position: { offset: 20, index: 0 } }])
      for (let i = 0; i < 2; i++)
        await store.outcomes.expireRange({ ...range, sourceId: null, fromOffset: 12, toOffset: 14 })
      const { waiting } = await store.outcomes.resume({ destinationId: 'd1', partitions: [0] })
      expect(waiting.map(({ offset }) => offset)).toEqual([4])
      const expired = { kind: 'range', outcome: 'expired', reason: 'storage budget' }
      expect(await recordedAt(store, 3)).toEqual([['d1', expired]])
      expect(await recordedAt(store, 4)).toMatchObject([['d1', { kind: 'journey', outcome: 'waiting' }]])
      expect(await recordedAt(store, 13)).toEqual([['d1', expired]])
      expect((await store.backlog.byDestination())[0]).toMatchObject({ destinationId: 'd1', expired: 1 })
      const scope = { destinationId: 'd1' }
      await store.outcomes.discard({
        scope,
        partitions: [0],
        ranges: [{ ...range, outcome: 'discarded' }],
        reason: 'removed',
        at: NOW,
      })
      expect(await store.outcomes.resume({ destinationId: 'd1', partitions: [0] })).toMatchObject({ waiting: [] })
    }))

  test('what the log has lost is counted once, however often and from wherever it is found', () =>
    withStore(makePlace, async (store) => {
      const lost = (sourceId: string, fromOffset: number, toOffset: number): RangeWrite => ({
        ...{ destinationId: 'd1', sourceId, partition: 0, fromOffset, toOffset, outcome: 'expired' },
        ...{ reason: 'log was cut', count: toOffset - fromOffset, at: NOW },
      })
      const steps: [lost: RangeWrite[], counted: number][] = [
        [[lost('s1', 10, 20), lost('s2', 15, 20)], 15],
        [[lost('s1', 10, 20), lost('s2', 15, 20)], 0],
        [[lost('s1', 5, 12)], 0],
        [[lost('s1', 12, 30), lost('s2', 20, 30)], 20],
        [[lost('s1', 40_000, 40_010)], 10],
        [[{ ...lost('s1', 10, 20), partition: 1 }], 10],
        [[{ ...lost('s1', 10, 20), destinationId: 'd2' }], 10],
      ]
      for (const [ranges, counted] of steps) {
        expect([ranges, await store.outcomes.expireLost(ranges)]).toEqual([ranges, counted])
      }
      const expired = (await store.backlog.byDestination()).map(({ destinationId, expired }) => [
        destinationId,
        expired,
      ])
      expect(expired.toSorted()).toEqual([
        ['d1', 55],
        ['d2', 10],
      ])
      const recorded = await recordedAt(store, 29)
      expect(recorded).toEqual([['d1', { kind: 'range', outcome: 'expired', reason: 'log was cut' }]])
    }))

  test('traces leave after their time; dead letters and waits do not', () =>
    withStore(makePlace, async (store, clock) => {
      const outcomes = laneOf(store, 'd1', 20)
      outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
      outcomes.journey(eventAt(3), wait(3))
      outcomes.deadLetter(eventAt(4), letter(4))
      outcomes.journey(eventAt(5), wait(5, { outcome: 'delivered' }))
      await store.flush()
      // An engine may keep whole days.
      await clock.advance(2 * DAY_MS)
      const later = clock.now()
      outcomes.delivered(eventAt(2), 200, 1, later, 2)
      await store.flush()
      expect(await store.outcomes.droppedUntil()).toBe(undefined)
      const logOldest = [{ partition: 0, offset: 0 }]
      await store.tidy({ finalBefore: later - 1_000, logOldest, maxBytes: 1e9 })
      const found = await Promise.all([1, 2, 3, 4, 5].map(async (offset) => (await recordedAt(store, offset)).length))
      expect(found).toEqual([0, 1, 1, 1, 0])
      expect(await store.outcomes.droppedUntil()).toBe(later - 1_000)
    }))

  test('the index of messageIds costs no trace, however large it is', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 9)
      outcomes.journey(eventAt(1), wait(1, { outcome: 'delivered', at: NOW }))
      outcomes.delivered(eventAt(2), 200, 1, NOW, 1)
      await store.flush()
      const position = { reader: 'messages', partition: 0, stream: 0, position: { offset: 9, index: 0 } }
      const entries = new Uint8Array(4_800_000)
      for (let at = 0; at < entries.length; at += 60_000) crypto.getRandomValues(entries.subarray(at, at + 60_000))
      await store.messages.write({ partition: 0, lastOffset: 9, entries, position })
      await store.tidy({ finalBefore: 0, logOldest: [], maxBytes: 2_000_000 })
      expect(await Promise.all([1, 2].map(async (offset) => (await recordedAt(store, offset)).length))).toEqual([1, 1])
      expect(await store.outcomes.droppedUntil()).toBe(undefined)
    }))

  test('a thread reads outcomes of many events through a port, until the store is closed', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 20)
      outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
      outcomes.journey(eventAt(2), wait(2))
      outcomes.deadLetter(eventAt(3, 1), letter(3, { index: 1 }))
      await store.flush()
      const ended = Promise.withResolvers<Error>()
      const behind = outcomesBehind(store.outcomePort(), ended.resolve)
      const events = [[1], [2], [3], [3, 1]].map(([offset = 0, index = 0]) => ({ offset, index, sourceId: 's1' }))
      const found = await behind.outcomesOf(0, events)
      expect(found.map((each) => each.map(({ destinationId, outcome }) => [destinationId, outcome]))).toEqual([
        [['d1', 'delivered']],
        [['d1', 'waiting']],
        [],
        [['d1', 'dead_lettered']],
      ])
      await store.close()
      expect(await ended.promise).toBeInstanceOf(ThreadEndedError)
      await expect(behind.outcomesOf(0, events)).rejects.toThrow(ThreadEndedError)
    }))

  test('plain outcomes are found at every distance, in blocks that grow and in large ones', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 9_000_000)
      const offsets = [7, 30_000, 8_000_000, 12, 29_999]
      for (const offset of offsets) outcomes.delivered(eventAt(offset, offset % 3), 200, 1, NOW, 1)
      await store.flush()
      for (let offset = 100; offset < 220; offset++) {
        outcomes.delivered(eventAt(offset), 200, 1, NOW, 1)
        if (offset < 130) await store.flush()
      }
      await store.flush()
      for (const offset of offsets) {
        expect([offset, (await recordedAt(store, offset, offset % 3)).length]).toEqual([offset, 1])
        expect([offset, (await recordedAt(store, offset, 3)).length]).toEqual([offset, 0])
      }
      for (const offset of [100, 129, 130, 219]) expect((await recordedAt(store, offset)).length).toBe(1)
      const behind = outcomesBehind(store.outcomePort(), () => {})
      const sought = [...offsets, 99, 150].map((offset) => ({ offset, index: offset % 3, sourceId: 's1' }))
      const found = await behind.outcomesOf(0, sought)
      expect(found.map((each) => each.length)).toEqual([1, 1, 1, 1, 1, 0, 1])
    }))

  test('reasons that differ only in characters that a database refuses are all written', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 9)
      const reasons = ['a\0', 'a\ufffd', 'a\ud800']
      for (const [offset, reason] of reasons.entries()) outcomes.deadLetter(eventAt(offset), letter(offset, { reason }))
      await store.flush()
      const { rows } = await store.deadLetters.page({ filter: {}, limit: 10, before: null })
      expect(rows.map(({ offset, reason }) => [offset, reason.slice(0, 1)])).toEqual([2, 1, 0].map((n) => [n, 'a']))
    }))

  test('outcomes whose text has characters that a database refuses are written', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 9)
      const text = 'half \ud83d of an emoji'
      outcomes.deadLetter(eventAt(1), letter(1, { lastAnswer: text, event: JSON.stringify({ messageId: '\0', text }) }))
      outcomes.journey(eventAt(2), wait(2, { requests: [{ ...REQUEST, endpoint: `http://x/\0${text}` }] }))
      await store.flush()
      const [, found] = (await recordedAt(store, 1))[0]!
      expect(found).toMatchObject({
        kind: 'dead_letter',
        reason: 'answered 400',
        lastAnswer: expect.stringMatching(/^half (\ud83d|\ufffd+) of an emoji$/),
      })
      expect(JSON.parse((found as { event: string }).event)).toEqual({ messageId: '\0', text })
      expect(await recordedAt(store, 2)).toMatchObject([['d1', { requests: [{ endpoint: `http://x/\0${text}` }] }]])
    }))
}
