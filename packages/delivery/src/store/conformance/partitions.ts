import { expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import type { DeliveryStore } from '../delivery-store.ts'
import { letter, type MakePlace, NOW, replayJob, wait, withStore } from './store-place.ts'

const ALL = [0, 1, 2]
const PLACES = ALL.flatMap((partition) => [1, 2, 3, 4].map((offset) => ({ partition, offset })))

/** Calls that concern some partitions: the owner of others may do the same at the same time. */
export function testPartitions(makePlace: MakePlace): void {
  test('a restart reads the waits and outcomes of its partitions only', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOfAll(store)
      for (const { partition, offset } of PLACES) {
        if (offset < 3) outcomes.journey(eventAt(partition, offset), wait(offset, { partition }))
        else outcomes.delivered(eventAt(partition, offset), 200, 1, NOW, 1)
      }
      await store.flush()
      const resume = (partitions: readonly number[]) => store.outcomes.resume({ destinationId: 'd1', partitions })
      const placesOf = async (partitions: readonly number[]) => {
        const { waiting, done } = await resume(partitions)
        return [waiting.map(({ partition, offset }) => [partition, offset]), done.toSorted()]
      }
      expect(await placesOf([1])).toEqual([
        [
          [1, 1],
          [1, 2],
        ],
        [
          [1, 3, 0],
          [1, 4, 0],
        ],
      ])
      expect((await placesOf([0, 2])).map(({ length }) => length)).toEqual([4, 4])
      expect(await placesOf([])).toEqual([[], []])
    }))

  test('owners of different partitions take up the dead letters of one job, each its own, each once', () =>
    withStore(
      makePlace,
      async (store) => {
        await giveUp(store)
        const job = await store.jobs.createOfLetters(replayJob('j1'))
        expect(job.parts.map(({ partition }) => partition)).toEqual(ALL)
        const counted = await Promise.all(
          ALL.map((partition) => store.jobs.countLetters({ jobId: 'j1', destinationId: 'd1', partition, after: [] })),
        )
        expect(counted).toEqual(ALL.map(() => ({ count: 4, next: null })))
        expect(await take(store, [1], 3)).toEqual([['1 1', '1 2', '1 3'], false])
        expect(await take(store, [0, 2], 5)).toEqual([['0 1', '0 2', '0 3', '0 4', '2 1'], false])
      },
      async (store) => {
        expect(await take(store, [1], 9)).toEqual([['1 4'], true])
        expect((await store.jobs.get('j1'))!.parts.map(({ isAtEnd }) => isAtEnd)).toEqual([true, true, false])
        expect(await replaying(store, [0, 1])).toEqual(placesOf([0, 1]))
        expect(await take(store, ALL, 9)).toEqual([['2 2', '2 3', '2 4'], true])
        expect(await take(store, ALL, 9)).toEqual([[], true])
        expect(await store.jobs.get('j1')).toMatchObject({ taken: 12 })
      },
    ))

  test('named dead letters are taken up, and discarded, in their partitions', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store)
      const { rows } = await store.deadLetters.page({ filter: {}, limit: 99, before: null })
      const ids = rows.flatMap(({ id, offset }) => (offset === 1 || offset === 3 ? [id] : []))
      await store.jobs.createOfLetters({ ...replayJob('j1'), kind: 'discard', selection: { ids } })
      const discard = (partitions: readonly number[]) =>
        store.jobs.discardLetters({ jobId: 'j1', destinationId: 'd1', partitions, limit: 9, at: NOW })
      expect(await discard([2])).toEqual({ count: 2, isAtEnd: true })
      expect(await open(store)).toEqual([...placesOf([0, 1]), '2 2', '2 4'])
      expect(await discard([0, 1])).toEqual({ count: 4, isAtEnd: true })
      expect(await store.jobs.get('j1')).toMatchObject({ taken: 6, discarded: 6 })
    }))

  test('the replay of one dead letter starts where its partition is owned', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store)
      const { rows } = await store.deadLetters.page({ filter: {}, limit: 99, before: null })
      const { id: letterId } = rows.find(({ partition }) => partition === 1)!
      const job = { id: 'j1', ratePerSecond: 1, createdBy: 'u', at: NOW }
      await store.jobs.createOfLetter({ letterId, job, partitions: [0] })
      expect(await store.deadLetters.get(letterId)).toMatchObject({ state: 'open' })
      expect(await store.jobs.get('j1')).toMatchObject({ matched: 1, taken: 0, parts: [{ partition: 1 }] })
      const part = { jobId: 'j1', destinationId: 'd1', partitions: [1], limit: 9, at: NOW }
      expect(await store.jobs.takeLetters(part)).toMatchObject({ letters: [{ id: letterId }], isAtEnd: true })
    }))

  test('a part of a job over the log that begins where its range ends is at its end', () =>
    withStore(makePlace, async (store) => {
      const selection = {
        ...{ sourceIds: [], from: 0, to: NOW, types: [], events: [], userIds: [], messageIds: [], outcomes: [] },
        ends: [9, 9, 0],
      }
      const { kind: _, ...made } = replayJob('j1')
      const starts = [3, 9, 0].map((offset) => [offset, 0])
      const { parts } = await store.jobs.createOfLog({ ...made, selection, starts })
      expect(parts.map(({ isAtEnd }) => isAtEnd)).toEqual([false, true, true])
    }))

  test('a cancelled job opens its dead letters and drops its waits in each partition by its owner', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store)
      await store.jobs.createOfLetters(replayJob('j1'))
      await take(store, ALL, 99)
      const selection = {
        ...{ sourceIds: [], from: 0, to: NOW, types: [], events: [], userIds: [], messageIds: [], outcomes: [] },
        ends: [9, 9, 9],
      }
      const { kind: _, ...made } = replayJob('j2')
      await store.jobs.createOfLog({ ...made, selection, starts: ALL.map(() => [0, 0]) })
      for (const partition of ALL) {
        const part = { jobId: 'j2', destinationId: 'd1', partition, place: [9, 0], isAtEnd: true, filtered: [] }
        await store.jobs.takeEvents({ ...part, waits: [wait(5, { partition, replayId: 'j2', stream: 2 })] })
      }
      const waitsOf = async (partitions: readonly number[]) => {
        const waits = await store.jobs.replayingEvents({ jobId: 'j2', partitions })
        return waits.map(({ partition }) => partition).toSorted()
      }
      expect(await waitsOf([0, 2])).toEqual([0, 2])
      for (const id of ['j1', 'j2']) await store.jobs.end({ id, to: 'cancelled', at: NOW, partitions: [0] })
      expect([await replaying(store, ALL), await waitsOf(ALL)]).toEqual([placesOf([1, 2]), [1, 2]])
      await store.jobs.reopenForgotten({ partitions: [2] })
      expect([await replaying(store, ALL), await waitsOf(ALL)]).toEqual([placesOf([1]), [1]])
      await store.jobs.reopenForgotten({ partitions: [1] })
      expect([await open(store), await waitsOf(ALL)]).toEqual([placesOf(ALL), []])

      await store.jobs.createOfLetters(replayJob('j3'))
      await store.jobs.end({ id: 'j3', to: 'cancelled', at: NOW, partitions: [] })
      const part = { jobId: 'j3', destinationId: 'd1', partitions: ALL, limit: 99, at: NOW }
      expect(await store.jobs.takeLetters(part), 'an owner that does not know it yet').toEqual({
        letters: [],
        isAtEnd: true,
      })
    }))

  test('a removal, and the storage budget, end what lies in the given partitions', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store)
      const budget = { destinationId: 'd1', partitions: [1], bytes: 1, reason: 'budget', at: NOW }
      expect((await store.deadLetters.expire(budget)).count).toBe(1)
      expect(await open(store)).toEqual(placesOf(ALL).filter((place) => place !== '1 1'))
      const outcomes = laneOfAll(store)
      for (const partition of ALL) outcomes.journey(eventAt(partition, 10), wait(10, { partition }))
      await store.flush()
      const removal = { scope: { destinationId: 'd1' }, ranges: [], reason: 'destination was removed', at: NOW }
      const ended = placesOf([0, 1]).length - 1
      expect(await store.outcomes.discard({ ...removal, partitions: [0, 1] })).toBe(ended)
      expect(await store.outcomes.discard({ ...removal, partitions: [0, 1] })).toBe(0)
      expect(await open(store)).toEqual(placesOf([2]))
      const { waiting } = await store.outcomes.resume({ destinationId: 'd1', partitions: ALL })
      expect(new Set(waiting.map(({ partition }) => partition))).toEqual(new Set([2]))
    }))

  test('a removal ends nothing at or after the places where a later connection of the pair begins', () =>
    withStore(makePlace, async (store) => {
      // 100 at a time: an engine may pack them together.
      const offsets = Array.from({ length: 100 }, (_, n) => n)
      const outcomes = laneOfAll(store)
      for (const partition of [0, 1]) {
        for (const offset of offsets) {
          outcomes.deadLetter(eventAt(partition, offset), letter(offset, { partition, attempts: 0 }))
        }
      }
      await store.flush()
      await store.jobs.createOfLetters({ ...replayJob('j1'), selection: { ids: await idsAt(store, [1, 2, 95, 96]) } })
      await take(store, [0, 1], 99)
      for (const offset of [200, 201, 202]) outcomes.journey(eventAt(0, offset), wait(offset))
      await store.flush()
      const scope = { destinationId: 'd1', sourceId: 's1' }
      const removal = { scope, partitions: [0, 1], ranges: [], reason: 'connection was removed', at: NOW }
      const keptFrom = [
        { partition: 0, offset: 90 },
        { partition: 1, offset: 200 },
        { partition: 2, offset: 0 },
      ]
      expect(await store.outcomes.discard({ ...removal, keptFrom })).toBe(88 + 96)
      const left = [90, 91, 92, 93, 94, 97, 98, 99].map((offset) => `0 ${offset}`)
      expect([await open(store), await replaying(store, [0, 1])]).toEqual([left, ['0 95', '0 96']])
      expect(await store.deadLetters.countOpenByDestination()).toEqual([['d1', 8]])
      expect((await store.deadLetters.groups({ filter: {}, before: null })).groups).toMatchObject([{ count: 8 }])
      const waits = async () => (await store.outcomes.resume({ destinationId: 'd1', partitions: [0] })).waiting
      expect((await waits()).map(({ offset }) => offset)).toEqual([200, 201, 202])
      await store.outcomes.discard({ ...removal, keptFrom: [{ partition: 0, offset: 202 }] })
      expect([await open(store), (await waits()).map(({ offset }) => offset)]).toEqual([[], [202]])
    }))
}

const FACTS = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }

function eventAt(partition: number, offset: number): LaneEvent {
  return new LaneEvent({ partition, stream: 0, offset, index: 0 }, FACTS, undefined)
}

function laneOfAll(store: DeliveryStore) {
  const outcomes = store.outcomesOf('d1')
  outcomes.positions = () => ALL.map((partition) => ({ partition, stream: 0, position: { offset: 1, index: 0 } }))
  return outcomes
}

/** A dead letter at each place. */
async function giveUp(store: DeliveryStore): Promise<void> {
  const outcomes = laneOfAll(store)
  for (const { partition, offset } of PLACES) {
    outcomes.deadLetter(eventAt(partition, offset), letter(offset, { partition }))
  }
  await store.flush()
}

async function idsAt(store: DeliveryStore, offsets: readonly number[]): Promise<string[]> {
  const { rows } = await store.deadLetters.page({ filter: {}, limit: 999, before: null })
  return rows.flatMap(({ id, offset }) => (offsets.includes(offset) ? [id] : []))
}

async function take(store: DeliveryStore, partitions: readonly number[], limit: number) {
  const part = { jobId: 'j1', destinationId: 'd1', partitions, limit, at: NOW }
  const { letters, isAtEnd } = await store.jobs.takeLetters(part)
  return [letters.map(nameOf), isAtEnd]
}

async function replaying(store: DeliveryStore, partitions: readonly number[]): Promise<string[]> {
  return (await store.jobs.replayingLetters({ jobId: 'j1', partitions })).map(nameOf)
}

async function open(store: DeliveryStore): Promise<string[]> {
  const { rows } = await store.deadLetters.page({ filter: { state: 'open' }, limit: 99, before: null })
  return rows.map(nameOf).toSorted()
}

function placesOf(partitions: readonly number[]): string[] {
  return PLACES.filter(({ partition }) => partitions.includes(partition)).map(nameOf)
}

function nameOf({ partition, offset }: { readonly partition: number; readonly offset: number }): string {
  return `${partition} ${offset}`
}
