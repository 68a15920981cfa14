import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ManualClock } from '@millrace/std'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LaneEvent } from '../../../lane/lane-event.ts'
import type { DeadLetterWrite, JourneyWrite } from '../../flush.ts'
import type { LaneOutcomes } from '../../lane-outcomes.ts'
import { SqliteDeliveryStore } from '../sqlite-delivery-store.ts'

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
const RUNS = Number(process.env['FLUSH_RUNS'] ?? 100)
const SEED = process.env['FLUSH_SEED'] === undefined ? undefined : Number(process.env['FLUSH_SEED'])

interface Opened extends Disposable {
  readonly store: SqliteDeliveryStore
  readonly outcomes: LaneOutcomes
  readonly logged: { fields: object; text: string }[]
  readonly internalErrors: () => number
}

async function opened(): Promise<Opened> {
  const folder = mkdtempDisposableSync(path.join(tmpdir(), 'millrace-flush-'))
  const logged: Opened['logged'] = []
  const logger = { info() {}, error: (fields: object, text: string) => void logged.push({ fields, text }) }
  const store = await SqliteDeliveryStore.open({
    file: path.join(folder.path, 'delivery.db'),
    clock: new ManualClock(NOW),
    logger,
  })
  const outcomes = store.outcomesOf('d1')
  let count = 0
  outcomes.onInternalErrors = (n) => {
    count += n
  }
  outcomes.readAccepted = async (places) =>
    places.map(({ offset }) => ({ sourceId: 's1', acceptedAt: NOW, event: JSON.stringify(payloadAt(offset)) }))
  return { store, outcomes, logged, internalErrors: () => count, [Symbol.dispose]: () => folder.remove() }
}

const payloadAt = (offset: number) => ({ type: 'track', messageId: `m-${offset}` })
const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
const placeOf = (offset: number) => ({ partition: 0, stream: 0, offset, index: 0 })
const eventAt = (offset: number) => new LaneEvent(placeOf(offset), facts, undefined)

function journeyAt(offset: number): JourneyWrite {
  return {
    ...{ ...placeOf(offset), ...facts, destinationId: 'd1', replayId: null, outcome: 'waiting', reason: null },
    ...{ attempts: 1, deliveredRequests: 0, firstAttemptAt: NOW, dueAt: NOW + 10_000, revision: 1, at: NOW },
    requests: [{ method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [] }],
  }
}

function letterAt(offset: number): DeadLetterWrite {
  return {
    ...{ ...placeOf(offset), destinationId: 'd1', replayId: null, sourceId: 's1', stage: 'delivery' },
    ...{ reason: 'answered 400', acceptedAt: NOW, deadAt: NOW, attempts: 1, lastStatus: 400, lastAnswer: 'no' },
    ...{ revision: 1, requests: null, event: JSON.stringify(payloadAt(offset)) },
  }
}

async function recordedAt(store: SqliteDeliveryStore, offset: number) {
  return (await store.outcomes.recorded({ partition: 0, offset, index: 0, sourceId: 's1' })).map(([, each]) => each)
}

test.each<[what: string, spoiled: object]>([
  ['an object as reason', { reason: { a: 1 } }],
  ['an object without a prototype as id of its source', { sourceId: Object.create(null) }],
  ['a function, which no message between threads may hold', { reason: () => 1 }],
  ['a number that SQLite keeps and nothing can read', { acceptedAt: 1e18 }],
  ['half a millisecond', { at: NOW + 0.5 }],
  ['not a number', { attempts: Number.NaN }],
  ['a text larger than SQLite takes', { reason: { toString: null } }],
])('a wait with %s ends as a dead letter, and every other outcome is written', async (_, spoiled) => {
  using run = await opened()
  const { store, outcomes, logged } = run
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  outcomes.journey(eventAt(2), journeyAt(2))
  outcomes.journey(eventAt(3), { ...journeyAt(3), ...spoiled } as JourneyWrite)
  outcomes.deadLetter(eventAt(4), letterAt(4))
  await store.flush()

  expect(await recordedAt(store, 1)).toMatchObject([{ kind: 'plain', outcome: 'delivered' }])
  expect(await recordedAt(store, 2)).toMatchObject([{ kind: 'journey', outcome: 'waiting' }])
  const letter = { kind: 'dead_letter', stage: 'internal', reason: 'Internal error', state: 'open' }
  expect(await recordedAt(store, 3)).toMatchObject([{ ...letter, event: JSON.stringify(payloadAt(3)) }])
  expect(await recordedAt(store, 4)).toMatchObject([{ kind: 'dead_letter', reason: 'answered 400' }])
  expect(await store.outcomes.positions()).toMatchObject([{ position: { offset: 9 } }])
  expect(run.internalErrors()).toBe(1)
  expect(outcomes.unpersisted).toBe(0)
  expect(store.trouble()).toBe(undefined)
  expect(logged).toMatchObject([
    {
      text: 'an outcome cannot be written because of its content',
      fields: { destinationId: 'd1', offset: 3, part: 'journeys' },
    },
  ])
  await store.close()
})

test('delivered events whose block cannot be written are dead letters, each of them', async () => {
  using run = await opened()
  const { store, outcomes } = run
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
  for (let offset = 1; offset <= 3; offset++) outcomes.delivered(eventAt(offset), 200, 1, NOW, 'x' as unknown as number)
  outcomes.delivered(eventAt(4), 200, 1, NOW, 1)
  await store.flush()
  const { rows } = await store.deadLetters.page({ filter: { reason: 'Internal error' }, limit: 10, before: null })
  expect(rows.map(({ offset }) => offset).sort()).toEqual([1, 2, 3])
  expect(await recordedAt(store, 4)).toMatchObject([{ kind: 'plain' }])
  await store.close()
})

test('an event that the log has lost as well is expired, as where its segment was damaged', async () => {
  using run = await opened()
  run.outcomes.readAccepted = async (places) => places.map(() => undefined)
  run.outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
  run.outcomes.journey(eventAt(1), { ...journeyAt(1), reason: {} as string })
  await run.store.flush()
  expect(await recordedAt(run.store, 1)).toMatchObject([{ outcome: 'expired', reason: 'segment was damaged' }])
  await run.store.close()
})

const anything = fc.oneof(
  fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withTypedArray: true,
    withDate: true,
    withSparseArray: true,
  }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e300, -1, 0.5, Symbol('x'), () => 1, '\u0000'),
)
const rows = fc.array(
  fc.record({
    kind: fc.constantFrom('delivered' as const, 'journey' as const, 'letter' as const),
    /** Which of its members holds something else; undefined: it is as it should be. */
    spoiled: fc.option(fc.record({ at: fc.nat(30), by: anything }), { nil: undefined, freq: 2 }),
  }),
  { minLength: 1, maxLength: 40 },
)

test('whatever rows hold, each event has one outcome, its own or a dead letter, and all of them can be read', async () => {
  using run = await opened()
  const { store, outcomes } = run
  let end = 0
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: end, index: 0 } }]
  const property = fc.asyncProperty(rows, async (script) => {
    const first = end
    end += script.length
    for (const [i, { kind, spoiled }] of script.entries()) {
      const offset = first + i
      const write = kind === 'letter' ? letterAt(offset) : journeyAt(offset)
      // Places come from the log, and a flush is made for one destination.
      const names = Object.keys(write).filter(
        (name) => !['partition', 'offset', 'index', 'destinationId'].includes(name),
      )
      const row = spoiled === undefined ? write : { ...write, [names[spoiled.at % names.length]!]: spoiled.by }
      if (kind === 'letter') outcomes.deadLetter(eventAt(offset), row as DeadLetterWrite)
      else if (kind === 'journey') outcomes.journey(eventAt(offset), row as JourneyWrite)
      else outcomes.delivered(eventAt(offset), 200, 1, NOW, revisionOf(spoiled?.by))
    }
    await store.flush()
    expect(outcomes.unpersisted).toBe(0)
    await store.outcomes.resume('d1')
    expect(await store.outcomes.positions()).toMatchObject([{ position: { offset: end } }])
    for (const [i, { kind, spoiled }] of script.entries()) {
      const found = await recordedAt(store, first + i)
      expect(found).toHaveLength(1)
      const isInternal = found[0]!.kind === 'dead_letter' && found[0]!.reason === 'Internal error'
      if (spoiled !== undefined && isInternal) continue
      expect(found[0]!.kind).toBe({ delivered: 'plain', journey: 'journey', letter: 'dead_letter' }[kind])
    }
  })
  await fc.assert(property, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }), verbose: 1 })
  await store.close()
}, 120_000)

/** What a block begins with is judged where it is made, but for its revision. */
function revisionOf(spoiled: unknown): number {
  return typeof spoiled === 'number' ? spoiled : 1
}

test('when the thread is gone no outcome counts as written, and the owner of the store is told once', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'millrace-flush-'))
  const threads: import('node:worker_threads').Worker[] = []
  const note = (worker: import('node:worker_threads').Worker) => threads.push(worker)
  process.on('worker', note)
  const faults: string[] = []
  const store = await SqliteDeliveryStore.open({
    file: path.join(folder.path, 'delivery.db'),
    clock: new ManualClock(NOW),
    logger: { info() {}, error() {} },
    onFault: (error) => void faults.push(error.message),
  })
  process.off('worker', note)
  const outcomes = store.outcomesOf('d1')
  let persisted = 0
  outcomes.onPersisted = () => persisted++
  await threads[0]!.terminate()
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await expect(store.flush()).rejects.toMatchObject({ code: 'THREAD_ENDED' })
  expect([persisted, outcomes.unpersisted]).toEqual([0, 1])
  expect(store.trouble()).toBe('thread delivery ended')
  expect(faults).toEqual(['thread delivery ended'])
  await store.close()
})
