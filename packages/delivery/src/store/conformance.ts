import { ManualClock, ThreadEndedError } from '@millrace/std'
import { describe, expect, test } from 'vitest'
import { LaneEvent } from '../lane/lane-event.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { DeadLetterWrite, JourneyWrite } from './flush.ts'
import type { NewLetterJob } from './job-store.ts'
import type { RangeWrite } from './outcome-store.ts'
import { outcomesBehind } from './outcomes-of-events.ts'
import type { Span } from './span-store.ts'

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REQUEST = { method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [] }

/** The place where an engine keeps one store; each `open` is a start of the server over the same state. */
export interface StorePlace extends AsyncDisposable {
  open(clock: ManualClock): Promise<DeliveryStore>
}

/** Tests that every engine of the delivery store must pass. `makePlace` returns a place without state. */
export function describeDeliveryStore(engine: string, makePlace: () => Promise<StorePlace>): void {
  let clock: ManualClock

  /** Runs work against a store, then checks the same promises after a restart. */
  async function withStore(
    work: (store: DeliveryStore) => Promise<void>,
    then?: (store: DeliveryStore) => Promise<void>,
  ) {
    await using place = await makePlace()
    clock = new ManualClock(NOW)
    for (const part of then === undefined ? [work] : [work, then]) {
      const store = await place.open(clock)
      try {
        await part(store)
      } finally {
        await store.close()
      }
    }
  }

  describe(`delivery store: ${engine}`, () => {
    test('an outcome is recorded at its event, with the position behind it and the versions of its revision', () =>
      withStore(
        async (store) => {
          const outcomes = laneOf(store, 'd1', 9)
          outcomes.noteVersions(2, ['v1', 'v2'])
          outcomes.delivered(eventAt(4, 1), 204, 12.4, NOW, 2)
          outcomes.filtered(eventAt(5), 'event filter', NOW, 1)
          expect(outcomes.unpersisted).toBe(2)
          await store.flush()
          expect(outcomes.unpersisted).toBe(0)
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
        async (store) => {
          const outcomes = laneOf(store, 'd1', 2)
          for (const offset of [7, 3]) outcomes.journey(eventAt(offset), wait(offset))
          outcomes.delivered(eventAt(5), 200, 1, NOW, 1)
          laneOf(store, 'd2', 1).journey(eventAt(8), wait(8, { destinationId: 'd2' }))
          await store.flush()
          outcomes.delivered(rowEvent(3), 200, 1, NOW, 1)
        },
        async (store) => {
          const { waiting, done } = await store.outcomes.resume('d1')
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
      withStore(async (store) => {
        const outcomes = laneOf(store, 'd1', 20)
        for (const offset of [3, 4]) outcomes.journey(eventAt(offset), wait(offset))
        await store.flush()
        const inFlight = [{ offset: 4, index: 0 }]
        const range: RangeWrite = {
          ...{ destinationId: 'd1', sourceId: 's1', partition: 0, fromOffset: 2, toOffset: 10 },
          ...{ outcome: 'expired', reason: 'storage budget', count: 1, at: NOW },
        }
        await store.outcomes.expireWaiting({ destinationId: 'd1', partition: 0, before: 10, inFlight, ranges: [range] })
        for (let i = 0; i < 2; i++)
          await store.outcomes.expireRange({ ...range, sourceId: null, fromOffset: 12, toOffset: 14 })
        const { waiting } = await store.outcomes.resume('d1')
        expect(waiting.map(({ offset }) => offset)).toEqual([4])
        const expired = { kind: 'range', outcome: 'expired', reason: 'storage budget' }
        expect(await recordedAt(store, 3)).toEqual([['d1', expired]])
        expect(await recordedAt(store, 4)).toMatchObject([['d1', { kind: 'journey', outcome: 'waiting' }]])
        expect(await recordedAt(store, 13)).toEqual([['d1', expired]])
        expect((await store.backlog.byDestination())[0]).toMatchObject({ destinationId: 'd1', expired: 1 })
        const scope = { destinationId: 'd1' }
        await store.outcomes.discard({
          scope,
          ranges: [{ ...range, outcome: 'discarded' }],
          reason: 'removed',
          at: NOW,
        })
        expect(await store.outcomes.resume('d1')).toMatchObject({ waiting: [] })
      }))

    test('traces leave after their time; dead letters and waits do not', () =>
      withStore(async (store) => {
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

    test('a thread reads outcomes of many events through a port, until the store is closed', () =>
      withStore(async (store) => {
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

    test('dead letters are listed newest first, counted in groups, and discarded once', () =>
      withStore(async (store) => {
        const outcomes = laneOf(store, 'd1', 20)
        for (const offset of [1, 2, 3]) {
          const reason = offset === 2 ? 'timed out' : 'answered 400'
          outcomes.deadLetter(eventAt(offset), letter(offset, { reason, deadAt: NOW + offset }))
        }
        await store.flush()
        const page = (filter: object, before: number | null = null, limit = 2) =>
          store.deadLetters.page({ filter, limit, before })
        const first = await page({ state: 'open' })
        const second = await page({ state: 'open' }, first.next)
        expect([first, second].map(({ rows }) => rows.map(({ offset }) => offset))).toEqual([[3, 2], [1]])
        expect(second.next).toBe(null)
        for (const [filter, offsets] of [
          [{ reason: 'timed out' }, [2]],
          [{ messageId: 'm-3' }, [3]],
          [{ userId: 'u-1', destinationId: 'd1', sourceId: 's1', stage: 'delivery' }, [1]],
          [{ from: NOW + 2, to: NOW + 3 }, [2]],
          [{ destinationId: 'd2' }, []],
        ] as const) {
          const { rows } = await page(filter, null, 10)
          expect([filter, rows.map(({ offset }) => offset)]).toEqual([filter, offsets])
        }
        const { groups } = await store.deadLetters.groups({ filter: {}, before: null })
        expect(groups.map(({ reason, count }) => [reason, count])).toEqual([
          ['answered 400', 2],
          ['timed out', 1],
        ])
        const { id } = first.rows[0]!
        expect(await store.deadLetters.discard({ id, at: NOW })).toMatchObject({ id, state: 'open' })
        expect(await store.deadLetters.discard({ id, at: NOW })).toMatchObject({ id, state: 'discarded' })
        expect(await store.deadLetters.get(id)).toMatchObject({ state: 'discarded', offset: 3 })
        expect(await store.deadLetters.get('x')).toBe(undefined)
        expect(await store.deadLetters.countOpen({ destinationId: 'd1' })).toBe(2)
        expect(await store.deadLetters.countOpenByDestination()).toEqual([['d1', 2]])
        const [event, none] = await store.deadLetters.events([second.rows[0]!.id, 'x'])
        expect([JSON.parse(event!), none]).toEqual([{ messageId: 'm-1', userId: 'u-1' }, undefined])
        const expired = await store.deadLetters.expire({ destinationId: 'd1', bytes: 1, reason: 'budget', at: NOW })
        expect(expired.count).toBe(1)
        expect(await recordedAt(store, 1)).toMatchObject([['d1', { outcome: 'expired', reason: 'budget' }]])
      }))

    test('a job takes up dead letters once, keeps its place over a restart, and opens what it had when it is cancelled', () =>
      withStore(
        async (store) => {
          const outcomes = laneOf(store, 'd1', 20)
          for (const offset of [1, 2, 3]) outcomes.deadLetter(eventAt(offset), letter(offset))
          await store.flush()
          const job = await store.jobs.createOfLetters(replayJob('j1'))
          expect(job).toMatchObject({ id: 'j1', state: 'queued', matched: null })
          const part = { jobId: 'j1', destinationId: 'd1' }
          expect(await store.jobs.countLetters({ ...part, after: [] })).toEqual({ count: 3, next: null })
          await store.jobs.setMatched({ jobId: 'j1', matched: 3 })
          const change = { id: 'j1', from: ['queued'], to: 'running', at: NOW } as const
          expect(await store.jobs.change(change)).toMatchObject({ isChanged: true, job: { state: 'running' } })
          expect(await store.jobs.change(change)).toMatchObject({ isChanged: false, job: { state: 'running' } })
          const taken = await store.jobs.takeLetters({ ...part, limit: 2, at: NOW })
          expect([taken.letters.length, taken.isAtEnd]).toEqual([2, false])
        },
        async (store) => {
          expect(await store.jobs.unfinished()).toMatchObject([{ id: 'j1', matched: 3, taken: 2 }])
          expect(await store.jobs.replayingLetters('j1')).toMatchObject([{ offset: 1 }, { offset: 2 }])
          const part = { jobId: 'j1', destinationId: 'd1' }
          const taken = await store.jobs.takeLetters({ ...part, limit: 2, at: NOW })
          expect([taken.letters.map(({ offset }) => offset), taken.isAtEnd]).toEqual([[3], true])
          expect(await store.deadLetters.countOpen({})).toBe(0)
          expect(await store.jobs.end({ id: 'j1', to: 'cancelled', at: NOW })).toMatchObject({ isChanged: true })
          expect(await store.deadLetters.countOpen({})).toBe(3)
          expect(await store.jobs.get('j1')).toMatchObject({ state: 'cancelled', finishedAt: NOW })
          expect(await store.jobs.get('j2')).toBe(undefined)
          expect((await store.jobs.list({ limit: 10, before: null })).jobs.map(({ id }) => id)).toEqual(['j1'])
        },
      ))

    test('a job over the log takes up events that wait for nothing else, and its outcomes stand beside the first', () =>
      withStore(async (store) => {
        const outcomes = laneOf(store, 'd1', 20)
        outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
        outcomes.journey(eventAt(2), wait(2))
        await store.flush()
        const selection = {
          ...{ sourceIds: ['s1'], from: NOW - 1, to: NOW + 1, types: [], events: [], userIds: [], messageIds: [] },
          ...{ outcomes: [], ends: [20] },
        }
        const made = { id: 'j1', isDryRun: false, ratePerSecond: 10, createdBy: 'u', at: NOW }
        await store.jobs.createOfLog({ ...made, selection, destinationIds: ['d1'], starts: [[0, 0]] })
        await store.jobs.change({ id: 'j1', from: ['queued'], to: 'running', at: NOW })
        const part = { jobId: 'j1', destinationId: 'd1', partition: 0, place: [3, 0], isAtEnd: true, filtered: [] }
        const waits = [1, 2].map((offset) => wait(offset, { replayId: 'j1', stream: 2 }))
        expect(await store.jobs.takeEvents({ ...part, waits })).toEqual([0])
        expect(await store.jobs.replayingEvents('j1')).toMatchObject([{ offset: 1, replayId: 'j1' }])
        expect(await recordedAt(store, 1)).toMatchObject([
          ['d1', { kind: 'plain', outcome: 'delivered', replayId: null }],
          ['d1', { kind: 'journey', outcome: 'waiting', replayId: 'j1' }],
        ])
        expect(await store.jobs.get('j1')).toMatchObject({ taken: 1, parts: [{ place: [3, 0], isAtEnd: true }] })
      }))

    test('one dead letter is taken up alone; without an unfinished job it is open again', () =>
      withStore(async (store) => {
        laneOf(store, 'd1', 20).deadLetter(eventAt(1), letter(1))
        await store.flush()
        const { rows } = await store.deadLetters.page({ filter: {}, limit: 1, before: null })
        const job = { id: 'j1', ratePerSecond: 1, createdBy: 'u', at: NOW }
        const [{ id: letterId }] = rows as [(typeof rows)[0]]
        expect(await store.jobs.createOfLetter({ letterId, job })).toMatchObject({
          letter: { state: 'open' },
          job: { id: 'j1' },
        })
        expect(await store.jobs.createOfLetter({ letterId, job: { ...job, id: 'j2' } })).toMatchObject({
          letter: { state: 'replaying' },
        })
        await store.jobs.change({ id: 'j1', from: ['queued', 'running'], to: 'done', at: NOW })
        await store.jobs.reopenForgotten()
        expect(await store.deadLetters.get(letterId)).toMatchObject({ state: 'open' })
      }))

    test('records that the log gave up are kept until nobody needs them', () =>
      withStore(
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

    test('parts of a statistics step add up, and steps without anything are known', () =>
      withStore(async (store) => {
        const row = {
          kind: 'destination',
          id: 'd1',
          counts: [1, 2, 0, 0, 0],
          waiting: 3,
          p50: 1,
          p95: 2,
          p99: 3,
        } as const
        const reasons = [{ destinationId: 'd1', outcome: 'dead_lettered', reason: 'answered 400', count: 2 }]
        for (let i = 0; i < 2; i++)
          await store.statistics.add({ at: 300_000, rows: [row], reasons, lastEvents: [['s1', 7 + i]] })
        await store.statistics.add({ at: 600_000, rows: [], reasons: [], lastEvents: [] })
        const subjects = [['destination', 'd1'] as const, ['source', 's1'] as const]
        const { known, rows } = await store.statistics.read({ from: 300_000, to: 900_000, subjects })
        expect(known).toEqual([300_000, 600_000])
        expect(rows).toMatchObject([[{ at: 300_000, counts: [2, 4, 0, 0, 0], waiting: 3 }], []])
        expect(await store.statistics.reasons({ from: 0, to: 900_000 })).toEqual([{ ...reasons[0], count: 4 }])
        expect(await store.statistics.lastEvents()).toEqual([['s1', 8]])
      }))

    test('spans of a resource are replaced together and dropped one by one', () =>
      withStore(async (store) => {
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
      withStore(async (store) => {
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
      withStore(async (store) => {
        await store.runs.begin(NOW)
        const event = eventAt(1)
        await store.noteUnderWay(underWay, event)
        laneOf(store, 'd1', 2).delivered(event, 200, 1, NOW, 1)
        await store.flush()
        expect(await store.runs.begin(NOW)).toMatchObject({ underWay: undefined })
      }))
  })
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

function laneOf(store: DeliveryStore, destinationId: string, offset: number) {
  const outcomes = store.outcomesOf(destinationId)
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset, index: 0 } }]
  return outcomes
}

function recordedAt(store: DeliveryStore, offset: number, index = 0) {
  return store.outcomes.recorded({ partition: 0, offset, index, sourceId: 's1' })
}

function eventAt(offset: number, index = 0): LaneEvent {
  const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
  return new LaneEvent({ partition: 0, stream: 0, offset, index }, facts, undefined)
}

/** An event that has a row in the store. */
function rowEvent(offset: number): LaneEvent {
  const event = eventAt(offset)
  event.hasRow = true
  return event
}

function wait(offset: number, change: Partial<JourneyWrite> = {}): JourneyWrite {
  return {
    ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', replayId: null },
    ...{ outcome: 'waiting', reason: null, acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0, attempts: 1 },
    ...{ deliveredRequests: 0, firstAttemptAt: NOW, dueAt: NOW, requests: [REQUEST], revision: 1, at: NOW },
    ...change,
  }
}

function letter(offset: number, change: Partial<DeadLetterWrite> = {}): DeadLetterWrite {
  return {
    ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', replayId: null },
    ...{ stage: 'delivery', reason: 'answered 400', acceptedAt: NOW, deadAt: NOW, attempts: 1, lastStatus: 400 },
    ...{ lastAnswer: null, revision: 1, requests: null },
    event: JSON.stringify({ messageId: `m-${offset}`, userId: `u-${offset}` }),
    ...change,
  }
}

function replayJob(id: string): NewLetterJob {
  return {
    ...{ id, kind: 'replay', isDryRun: false, ratePerSecond: 10, createdBy: 'u', at: NOW },
    ...{ selection: { filter: {} }, destinationIds: ['d1'] },
  }
}
