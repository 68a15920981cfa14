import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import type { DeadLetterFilter, DeadLetterRow, DeadLetterStore } from '../dead-letter-store.ts'
import type { DeliveryStore } from '../delivery-store.ts'
import { eventAt, laneOf, letter, type MakePlace, NOW, withStore } from './store-place.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** Many dead letters, some of which an engine may pack together: callers cannot see which. */
export function testManyLetters(makePlace: MakePlace): void {
  test('a number is never given twice, after a restart and after all that had it are gone', async () => {
    const ids = new Set<string>()
    const round = async (store: DeliveryStore) => {
      await giveUp(store, manyGiven(50))
      for (const { id } of await listed(store, { state: 'open' })) ids.add(id)
      await store.deadLetters.expire({ destinationId: 'd1', partitions: [0], bytes: 1e9, reason: 'budget', at: NOW })
      expect(await listed(store, {})).toEqual([])
    }
    await withStore(makePlace, round, round, round)
    expect(ids.size).toBe(150)
  })

  test('10,000 that were given up for one reason are listed in order, and each has its id', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store, manyGiven(10_000))
      const letters = await listed(store, { state: 'open' })
      expect(new Set(letters.map(({ id }) => id)).size).toBe(10_000)
      expect(letters.map(({ offset }) => offset)).toEqual(Array.from({ length: 10_000 }, (_, i) => 9_999 - i))
      for (const letter of [letters[0]!, letters[5_000]!, letters[9_999]!]) {
        expect(await store.deadLetters.get(letter.id)).toEqual(letter)
        expect(JSON.parse(letter.event).messageId).toBe(messageIdOf(letter))
        const facts = { lastStatus: 503, lastAnswer: 'maintenance', attempts: 0, requests: null, revision: 7 }
        expect(letter).toMatchObject(facts)
      }
    }))

  test('a page looks at no more than 10,000, whatever it asks for', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store, manyGiven(1, { userId: 'rare' }))
      await giveUp(
        store,
        manyGiven(12_000).map((each) => ({ ...each, offset: each.offset + 1 })),
      )
      const request = { filter: { userId: 'rare' }, limit: 10 }
      const first = await store.deadLetters.page({ ...request, before: null })
      expect([first.rows.length, first.next === null]).toEqual([0, false])
      const second = await store.deadLetters.page({ ...request, before: first.next })
      expect([second.rows.map(({ offset }) => offset), second.next]).toEqual([[0], null])
    }))

  test('what was removed with its destination stays visible for its time', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store, [...manyGiven(100), ...manyGiven(100, { destinationId: 'd2' })])
      const { id } = (await listed(store, { destinationId: 'd1' }))[0]!
      const scope = { destinationId: 'd1' }
      const removal = { scope, partitions: [0], ranges: [], reason: 'destination was removed', at: NOW }
      expect(await store.outcomes.discard(removal)).toBe(100)
      const ended = { state: 'discarded', endReason: 'destination was removed' }
      expect(await store.deadLetters.get(id)).toMatchObject(ended)
      expect((await listed(store, { state: 'open' })).length).toBe(100)
      expect((await listed(store, { state: 'discarded' })).length).toBe(100)
      expect(await store.deadLetters.countOpenByDestination()).toEqual([['d2', 100]])
      await store.tidy({ finalBefore: NOW + 1, logOldest: [], maxBytes: 1e9 })
      expect(await store.deadLetters.get(id)).toBe(undefined)
      expect((await listed(store, {})).length).toBe(100)
    }))

  test('dead letters that come over a change of minute are counted, and none is left once all are discarded', () =>
    withStore(makePlace, async (store) => {
      const outcomes = laneOf(store, 'd1', 50)
      const minute = Math.ceil(NOW / 60_000) * 60_000
      for (let offset = 0; offset < 40; offset++) {
        outcomes.deadLetter(eventAt(offset), letter(offset, { attempts: 0, deadAt: minute - 20 + offset }))
      }
      await store.flush()
      expect(await store.deadLetters.countOpen({ destinationId: 'd1' })).toBe(40)
      const tidied = { finalBefore: 0, logOldest: [], maxBytes: Number.MAX_SAFE_INTEGER }
      await store.outcomes.discard({
        scope: { destinationId: 'd1' },
        partitions: [0],
        ranges: [],
        reason: 'gone',
        at: NOW,
      })
      await store.tidy(tidied)
      expect(await store.deadLetters.countOpen({ destinationId: 'd1' })).toBe(0)
      expect(await store.deadLetters.groups({ filter: {}, before: null })).toEqual({ groups: [], next: null })
    }))

  test('a job over named dead letters takes up those that are open, ordered by place', () =>
    withStore(makePlace, async (store) => {
      await giveUp(store, [...manyGiven(40), ...manyGiven(40, { destinationId: 'd2' })])
      const letters = await listed(store, {})
      const named = letters.filter(({ offset }) => offset % 10 === 0)
      await store.deadLetters.discard({
        id: named.find(({ offset, destinationId }) => offset === 10 && destinationId === 'd1')!.id,
        at: NOW,
      })
      await store.jobs.createOfLetters({
        ...{ id: 'j1', kind: 'replay', isDryRun: false, ratePerSecond: 100, createdBy: 'x', at: NOW },
        ...{ selection: { ids: [...named.map(({ id }) => id), 'x'] }, destinationIds: ['d1'] },
      })
      const part = { jobId: 'j1', destinationId: 'd1', partitions: [0], limit: 2, at: NOW }
      const steps = [await store.jobs.takeLetters(part), await store.jobs.takeLetters(part)]
      expect(steps.map(({ letters, isAtEnd }) => [letters.map(({ offset }) => offset), isAtEnd])).toEqual([
        [[0, 20], false],
        [[30], true],
      ])
    }))

  test(
    `dead letters in rows and ranges are one list, by a model (seed ${seed})`,
    () =>
      withStore(makePlace, async (store) => {
        const random = randomFrom(seed)
        const below = (n: number) => Math.floor(random() * n)
        const model: Given[] = []
        let offset = 0
        let number = 0
        const open = (destinationId?: string) =>
          model.filter(
            (each) => each.state === 'open' && (destinationId === undefined || each.destinationId === destinationId),
          )
        const isSame = async (filter: DeadLetterFilter, wanted: (each: Given) => boolean) => {
          const found = await listed(store, filter, 10 + below(200))
          const names = (list: readonly { destinationId: string; offset: number; index: number; state: string }[]) =>
            list.map((each) => `${each.destinationId} ${messageIdOf(each)} ${each.state}`).sort()
          expect(names(found)).toEqual(names(model.filter((each) => each.state !== 'gone' && wanted(each))))
        }
        for (let round = 0; round < 20; round++) {
          const at = { destinationId: `d${1 + below(2)}`, sourceId: `s${1 + below(2)}` }
          switch (below(6)) {
            case 0:
            case 1: {
              const given = Array.from({ length: 1 + below(400) }, () => ({
                ...at,
                ...{ offset: ++offset, index: below(3), reason: `reason ${below(12) === 0 ? 2 : 1}` },
                ...{ attempts: below(20) === 0 ? 1 : 0, userId: `u-${below(5)}`, bytes: below(60), state: 'open' },
              }))
              // They are given up in another order than they came in.
              await giveUp(
                store,
                given.toSorted(() => random() - 0.5),
              )
              model.push(...given)
              break
            }
            case 2: {
              const letters = await listed(store, { state: 'open' })
              for (const { id, destinationId, offset, index } of letters.filter(() => below(20) === 0)) {
                await store.deadLetters.discard({ id, at: NOW })
                model.find(
                  (each) => each.destinationId === destinationId && each.offset === offset && each.index === index,
                )!.state = 'discarded'
              }
              break
            }
            case 3: {
              const userId = `u-${below(5)}`
              const wanted = open(at.destinationId).filter((each) => each.userId === userId)
              const job = await store.jobs.createOfLetters({
                ...{
                  id: `job-${++number}`,
                  kind: 'discard',
                  isDryRun: false,
                  ratePerSecond: 100,
                  createdBy: 'x',
                  at: NOW,
                },
                ...{ selection: { filter: { userId } }, destinationIds: [at.destinationId] },
              })
              const part = { jobId: job.id, destinationId: at.destinationId, partitions: [0] }
              let counted = 0
              for (let after: readonly number[] | null = []; after !== null; ) {
                const step: { count: number; next: readonly number[] | null } = await store.jobs.countLetters({
                  ...part,
                  partition: 0,
                  after,
                })
                counted += step.count
                after = step.next
              }
              expect(counted).toBe(wanted.length)
              while (!(await store.jobs.discardLetters({ ...part, limit: 1 + below(50), at: NOW })).isAtEnd);
              for (const each of wanted) each.state = 'discarded'
              break
            }
            case 4: {
              const wanted = open(at.destinationId).sort((a, b) => a.offset - b.offset || a.index - b.index)
              const job = await store.jobs.createOfLetters({
                ...{
                  id: `job-${++number}`,
                  kind: 'replay',
                  isDryRun: false,
                  ratePerSecond: 100,
                  createdBy: 'x',
                  at: NOW,
                },
                ...{ selection: { filter: {} }, destinationIds: [at.destinationId] },
              })
              const taken: DeadLetterRow[] = []
              for (let steps = 1 + below(4); steps > 0; steps--) {
                const part = { jobId: job.id, destinationId: at.destinationId, partitions: [0] }
                const { letters } = await store.jobs.takeLetters({ ...part, limit: 1 + below(100), at: NOW })
                taken.push(...letters)
              }
              expect(taken.map(messageIdOf)).toEqual(wanted.slice(0, taken.length).map(messageIdOf))
              for (const each of wanted.slice(0, taken.length)) each.state = 'replaying'
              await isSame({ state: 'replaying' }, (each) => each.state === 'replaying')
              await store.jobs.end({ id: job.id, to: 'cancelled', at: NOW, partitions: [0] })
              for (const each of wanted.slice(0, taken.length)) each.state = 'open'
              break
            }
            default: {
              const before = await listed(store, { state: 'open', destinationId: at.destinationId })
              const { count } = await store.deadLetters.expire({
                ...{ destinationId: at.destinationId, partitions: [0], bytes: below(3_000), reason: 'budget', at: NOW },
              })
              const gone = new Set(before.slice(before.length - count).map(messageIdOf))
              for (const each of open(at.destinationId)) if (gone.has(messageIdOf(each))) each.state = 'gone'
            }
          }
          await isSame({ state: 'open' }, ({ state }) => state === 'open')
          await isSame({ state: 'discarded' }, ({ state }) => state === 'discarded')
          await isSame(
            { sourceId: 's1', userId: 'u-3' },
            ({ sourceId, userId }) => sourceId === 's1' && userId === 'u-3',
          )
          await isSame(
            { reason: 'reason 2', destinationId: 'd2' },
            (each) => each.reason === 'reason 2' && each.destinationId === 'd2',
          )
          const counts = countsOf(open().filter(({ sourceId }) => sourceId === 's2'))
          expect(await grouped(store, { sourceId: 's2' })).toEqual(counts)
          expect(await grouped(store, { sourceId: 's2', from: 0 })).toEqual(counts)
          const scope = { destinationId: at.destinationId, sourceId: at.sourceId }
          expect(await store.deadLetters.countOpen(scope)).toBe(
            open(at.destinationId).filter(({ sourceId }) => sourceId === at.sourceId).length,
          )
          for (const { destinationId, letters, letterBytes } of await store.backlog.byDestination()) {
            const found = await listed(store, { state: 'open', destinationId })
            const bytes = found.reduce((sum, { event }) => sum + Buffer.byteLength(event), 0)
            expect([letters, letterBytes]).toEqual([found.length, bytes])
          }
          const each = model[below(model.length)]
          if (each === undefined || each.state === 'gone') continue
          const recorded = await store.outcomes.recorded({ partition: 0, ...each })
          expect(recorded).toMatchObject([[each.destinationId, { kind: 'dead_letter', state: each.state }]])
          const { done } = await store.outcomes.resume({ destinationId: each.destinationId, partitions: [0] })
          const places = model.filter(({ destinationId }) => destinationId === each.destinationId)
          expect(done.map(([, offset, index]) => messageIdOf({ offset, index })).sort()).toEqual(
            places.map(messageIdOf).sort(),
          )
        }
      }),
    120_000,
  )
}

interface Given {
  readonly destinationId: string
  readonly sourceId: string
  readonly offset: number
  readonly index: number
  readonly reason: string
  readonly attempts: number
  readonly userId: string
  readonly bytes: number
  state: string
}

const messageIdOf = ({ offset, index }: { offset: number; index: number }) => `m-${offset}-${index}`

export function giveUp(store: DeliveryStore, given: readonly Given[]): Promise<void> {
  const lanes = new Map(['d1', 'd2'].map((id) => [id, store.outcomesOf(id)]))
  for (const lane of lanes.values()) {
    lane.positions = () => [{ partition: 0, stream: 0, position: { offset: 0, index: 0 } }]
  }
  for (const each of given) {
    const { destinationId, sourceId, offset, index, reason, attempts, userId, bytes } = each
    const place = { partition: 0, stream: 0, offset, index }
    const facts = { sourceId, acceptedAt: NOW + offset, sizeBytes: bytes, userKey: 0, anonymousKey: 0 }
    lanes.get(destinationId)!.deadLetter(new LaneEvent(place, facts, undefined), {
      ...{ ...place, destinationId, sourceId, replayId: null, stage: 'delivery', reason, attempts },
      ...{ acceptedAt: NOW + offset, deadAt: NOW, lastStatus: 503, lastAnswer: 'maintenance', revision: 7 },
      requests: attempts === 0 ? null : [{ method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [] }],
      event: JSON.stringify({ messageId: messageIdOf(each), userId, padding: 'ü'.repeat(bytes) }),
    })
  }
  return store.flush()
}

export function manyGiven(count: number, change: Partial<Given> = {}): Given[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{ destinationId: 'd1', sourceId: 's1', offset: i, index: 0, reason: 'retry limit reached', attempts: 0 },
    ...{ userId: `u-${i % 10}`, bytes: 300, state: 'open' },
    ...change,
  }))
}

async function listed(store: DeliveryStore, filter: DeadLetterFilter, limit = 500): Promise<DeadLetterRow[]> {
  const all: DeadLetterRow[] = []
  for (let before: number | null = null; ; ) {
    const { rows, next }: { rows: DeadLetterRow[]; next: number | null } = await store.deadLetters.page({
      filter,
      limit,
      before,
    })
    all.push(...rows)
    if (next === null) return all
    before = next
  }
}

/** Numbers of open ones by destination and reason: those that are kept beside them, or with `from` counted one by one. */
async function grouped(store: DeliveryStore, filter: DeadLetterFilter): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (let before: number | null = null; ; ) {
    const found: Awaited<ReturnType<DeadLetterStore['groups']>> = await store.deadLetters.groups({
      filter: { ...filter, state: 'open' },
      before,
    })
    for (const { destinationId, reason, count } of found.groups) {
      const key = `${destinationId} ${reason}`
      counts[key] = (counts[key] ?? 0) + count
    }
    if (found.next === null) return counts
    before = found.next
  }
}

function countsOf(given: readonly Given[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { destinationId, reason } of given) {
    const key = `${destinationId} ${reason}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}
