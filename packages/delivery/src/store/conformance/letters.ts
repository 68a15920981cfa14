import { expect, test } from 'vitest'
import type { RequestHistory } from '../../lane/history/request-history.ts'
import { filteredEntries, type PlainOutcome } from '../outcomes/outcome-block.ts'
import { eventAt, laneOf, letter, type MakePlace, NOW, recordedAt, replayJob, wait, withStore } from './store-place.ts'

/** Dead letters, and jobs over them and over the log. */
export function testLetters(makePlace: MakePlace): void {
  test('dead letters are listed newest first, counted in groups, and discarded once', () =>
    withStore(makePlace, async (store) => {
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
      const expired = await store.deadLetters.expire({
        destinationId: 'd1',
        partitions: [0],
        bytes: 1,
        reason: 'budget',
        at: NOW,
      })
      expect(expired.count).toBe(1)
      expect(await recordedAt(store, 1)).toMatchObject([['d1', { outcome: 'expired', reason: 'budget' }]])
    }))

  test('a job takes up dead letters once, keeps its place over a restart, and opens what it had when it is cancelled', () =>
    withStore(
      makePlace,
      async (store) => {
        const outcomes = laneOf(store, 'd1', 20)
        for (const offset of [1, 2, 3]) outcomes.deadLetter(eventAt(offset), letter(offset))
        await store.flush()
        const job = await store.jobs.createOfLetters(replayJob('j1'))
        expect(job).toMatchObject({ id: 'j1', state: 'queued', matched: null })
        const part = { jobId: 'j1', destinationId: 'd1', partitions: [0] }
        expect(await store.jobs.countLetters({ ...part, partition: 0, after: [] })).toEqual({ count: 3, next: null })
        await store.jobs.setMatched({ jobId: 'j1', matched: 3 })
        const change = { id: 'j1', from: ['queued'], to: 'running', at: NOW } as const
        expect(await store.jobs.change(change)).toMatchObject({ isChanged: true, job: { state: 'running' } })
        expect(await store.jobs.change(change)).toMatchObject({ isChanged: false, job: { state: 'running' } })
        const taken = await store.jobs.takeLetters({ ...part, limit: 2, at: NOW })
        expect([taken.letters.length, taken.isAtEnd]).toEqual([2, false])
      },
      async (store) => {
        expect(await store.jobs.unfinished()).toMatchObject([{ id: 'j1', matched: 3, taken: 2 }])
        expect(await store.jobs.isUnderWay({ jobId: 'j1', partitions: [0] })).toBe(true)
        expect(await store.jobs.isUnderWay({ jobId: 'j1', partitions: [1] })).toBe(false)
        expect(await store.jobs.replayingLetters({ jobId: 'j1', partitions: [0] })).toMatchObject([
          { offset: 1 },
          { offset: 2 },
        ])
        const part = { jobId: 'j1', destinationId: 'd1', partitions: [0] }
        const taken = await store.jobs.takeLetters({ ...part, limit: 2, at: NOW })
        expect([taken.letters.map(({ offset }) => offset), taken.isAtEnd]).toEqual([[3], true])
        expect(await store.deadLetters.countOpen({})).toBe(0)
        expect(await store.jobs.end({ id: 'j1', to: 'cancelled', at: NOW, partitions: [0] })).toMatchObject({
          isChanged: true,
        })
        expect(await store.jobs.isUnderWay({ jobId: 'j1', partitions: [0] })).toBe(false)
        expect(await store.deadLetters.countOpen({})).toBe(3)
        expect(await store.jobs.get('j1')).toMatchObject({ state: 'cancelled', finishedAt: NOW })
        expect(await store.jobs.get('j2')).toBe(undefined)
        expect((await store.jobs.list({ limit: 10, before: null })).jobs.map(({ id }) => id)).toEqual(['j1'])
      },
    ))

  test('a job over the log takes up events that wait for nothing else, and its outcomes stand beside the first', () =>
    withStore(makePlace, async (store) => {
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
      expect(await store.jobs.isUnderWay({ jobId: 'j1', partitions: [0] })).toBe(true)
      expect(await store.jobs.replayingEvents({ jobId: 'j1', partitions: [0] })).toMatchObject([
        { offset: 1, replayId: 'j1' },
      ])
      expect(await recordedAt(store, 1)).toMatchObject([
        ['d1', { kind: 'plain', outcome: 'delivered', replayId: null }],
        ['d1', { kind: 'journey', outcome: 'waiting', replayId: 'j1' }],
      ])
      expect(await store.jobs.get('j1')).toMatchObject({ taken: 1, parts: [{ place: [3, 0], isAtEnd: true }] })
    }))

  test('one dead letter is taken up alone; without an unfinished job it is open again', () =>
    withStore(makePlace, async (store) => {
      laneOf(store, 'd1', 20).deadLetter(eventAt(1), letter(1))
      await store.flush()
      const { rows } = await store.deadLetters.page({ filter: {}, limit: 1, before: null })
      const job = { id: 'j1', ratePerSecond: 1, createdBy: 'u', at: NOW }
      const [{ id: letterId }] = rows as [(typeof rows)[0]]
      expect(await store.jobs.createOfLetter({ letterId, job, partitions: [0] })).toMatchObject({
        letter: { state: 'open' },
        job: { id: 'j1' },
      })
      expect(await store.jobs.createOfLetter({ letterId, job: { ...job, id: 'j2' }, partitions: [0] })).toMatchObject({
        letter: { state: 'replaying' },
      })
      await store.jobs.change({ id: 'j1', from: ['queued', 'running'], to: 'done', at: NOW })
      await store.jobs.reopenForgotten({ partitions: [0] })
      expect(await store.deadLetters.get(letterId)).toMatchObject({ state: 'open' })
    }))

  test('a replayed dead letter is resolved, waits with its attempts, or is open again, and its job counts it', () =>
    withStore(
      makePlace,
      async (store) => {
        const outcomes = laneOf(store, 'd1', 20)
        for (const offset of [1, 2, 3, 4, 5])
          outcomes.deadLetter(eventAt(offset), letter(offset, { requests: [attempted(1)] }))
        await store.flush()
        await store.jobs.createOfLetters(replayJob('j1'))
        const part = { jobId: 'j1', destinationId: 'd1', partitions: [0] }
        const { letters } = await store.jobs.takeLetters({ ...part, limit: 5, at: NOW })
        const replayed = (i: number) => {
          return eventAt(i + 1, 0, { replayId: 'j1', letterId: letters[i]!.id, acceptedAt: NOW, onEnd() {} })
        }
        outcomes.journey(replayed(0), wait(1, { outcome: 'delivered', requests: [attempted(1)], at: NOW + 5 }))
        outcomes.journey(replayed(1), wait(2, { requests: [attempted(1)], attempts: 1 }))
        outcomes.deadLetter(
          replayed(2),
          letter(3, { reason: 'answered 410', lastStatus: 410, requests: [attempted(1)] }),
        )
        outcomes.replayFiltered(letters[3]!.id, 'event filter', NOW + 6, 4)
        outcomes.dropped(replayed(4), NOW + 7, 4)
        await store.flush()
        // The event has left memory: its wait keeps the attempts on disk.
        outcomes.journey(replayed(1), wait(2, { requests: null, attempts: 2 }))
        await store.flush()
      },
      async (store) => {
        const all = (await store.deadLetters.page({ filter: {}, limit: 9, before: null })).rows.reverse()
        const shown = all.map(({ state, endReason, attempts, requests, stateAt }) => {
          return [state, endReason, attempts, requests![0]!.attempts.map(({ n }) => n), stateAt]
        })
        expect(shown).toEqual([
          ['resolved', null, 2, [1, 2], NOW + 5],
          ['replaying', null, 1, [1], NOW],
          ['open', null, 2, [1, 2], NOW],
          ['resolved', 'event filter', 1, [1], NOW + 6],
          ['resolved', 'dropped_by_transformation', 1, [1], NOW + 7],
        ])
        expect(all[2]).toMatchObject({ reason: 'answered 410', lastStatus: 410, replayId: 'j1' })
        expect(all[1]!.wait).toMatchObject({ attempts: 2, requests: [attempted(1)] })
        const place = { partition: 0, offset: 2, index: 0, replayId: 'j1', letterId: all[1]!.id }
        expect(await store.outcomes.histories({ destinationId: 'd1', events: [place] })).toEqual([[attempted(1)]])
        const counts = { taken: 5, delivered: 1, filtered: 2, deadLettered: 1 }
        expect(await store.jobs.get('j1')).toMatchObject(counts)
        const { groups } = await store.deadLetters.groups({ filter: {}, before: null })
        expect(groups.map(({ reason, count }) => [reason, count])).toEqual([['answered 410', 1]])
        expect(await store.deadLetters.countOpen({})).toBe(1)
        expect(await recordedAt(store, 2)).toMatchObject([['d1', { kind: 'dead_letter', state: 'replaying' }]])
      },
    ))

  test('a job counts the outcomes of its events of the log, and the events that a filter excludes', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 20)
      for (const offset of [1, 2, 3]) outcomes.delivered(eventAt(offset), 500, 1, NOW, 1)
      await store.flush()
      const selection = {
        ...{
          sourceIds: [],
          from: 0,
          to: NOW,
          types: [],
          events: [],
          userIds: [],
          messageIds: [],
          outcomes: [],
          ends: [9],
        },
      }
      const made = { id: 'j1', isDryRun: false, ratePerSecond: 10, createdBy: 'u', at: NOW }
      const job = await store.jobs.createOfLog({ ...made, selection, destinationIds: ['d1'], starts: [[0, 0]] })
      expect(job).toMatchObject({ over: { origin: 'log', selection }, parts: [{ partition: 0, place: [0, 0] }] })
      const filtered = {
        offset: 4,
        index: 0,
        outcome: 'filtered',
        reason: 'event filter',
        status: 0,
        durationMs: 0,
        at: NOW,
      }
      const block = {
        ...{
          destinationId: 'd1',
          partition: 0,
          revision: 1,
          replayId: 'j1',
          firstOffset: 4,
          lastOffset: 4,
          lastAt: NOW,
        },
        entries: filteredEntries([filtered as PlainOutcome]),
      }
      const waits = [1, 2, 3].map((offset) => wait(offset, { replayId: 'j1', stream: 2 }))
      const part = { jobId: 'j1', destinationId: 'd1', partition: 0, place: [5, 0], isAtEnd: true }
      expect(await store.jobs.takeEvents({ ...part, waits, filtered: [block] })).toEqual([0, 1, 2])
      const replayed = { replayId: 'j1', letterId: undefined, acceptedAt: NOW, onEnd() {} }
      const rowOf = (offset: number) => Object.assign(eventAt(offset, 0, replayed), { hasRow: true })
      outcomes.delivered(rowOf(1), 200, 1, NOW, 1)
      outcomes.journey(rowOf(2), wait(2, { outcome: 'delivered', replayId: 'j1' }))
      outcomes.deadLetter(rowOf(3), letter(3, { replayId: 'j1' }))
      await store.flush()
      const counts = { taken: 4, delivered: 2, filtered: 1, deadLettered: 1 }
      expect(await store.jobs.get('j1')).toMatchObject(counts)
      expect(await store.jobs.replayingEvents({ jobId: 'j1', partitions: [0] })).toEqual([])
      expect(await store.jobs.isUnderWay({ jobId: 'j1', partitions: [0] })).toBe(false)
      expect(await recordedAt(store, 3)).toMatchObject([
        ['d1', { kind: 'plain', replayId: null }],
        ['d1', { kind: 'dead_letter', replayId: 'j1' }],
      ])
      expect(await recordedAt(store, 4)).toMatchObject([['d1', { outcome: 'filtered', replayId: 'j1' }]])
      // The budget gives up the dead letter: its outcome is that of the replay.
      await store.deadLetters.expire({ destinationId: 'd1', partitions: [0], bytes: 1, reason: 'budget', at: NOW })
      expect(await recordedAt(store, 3)).toMatchObject([
        ['d1', { kind: 'plain', replayId: null }],
        ['d1', { kind: 'journey', outcome: 'expired', replayId: 'j1' }],
      ])
      await store.jobs.change({ id: 'j1', from: ['queued'], to: 'done', at: NOW })
      expect(await store.jobs.unfinished()).toEqual([])
      await store.tidy({ finalBefore: NOW + 1, logOldest: [], maxBytes: 1e9 })
      expect(await store.jobs.get('j1')).toBe(undefined)
    }))
}

function attempted(n: number): RequestHistory {
  const attempt = {
    n,
    at: new Date(NOW).toISOString(),
    durationMs: 1,
    status: 400,
    class: 'abort',
    text: 'no',
  } as const
  return { method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [attempt] }
}
