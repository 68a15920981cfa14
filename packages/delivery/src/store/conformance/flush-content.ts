import { ManualClock } from '@millrace/std'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DeliveryStore } from '../delivery-store.ts'
import type { DeadLetterWrite, JourneyWrite } from '../outcomes/flush.ts'
import type { LaneOutcomes } from '../outcomes/lane-outcomes.ts'
import { eventAt, letter, type MakePlace, NOW, recordedAt, wait } from './store-place.ts'

const RUNS = Number(process.env['FLUSH_RUNS'] ?? 100)
const SEED = process.env['FLUSH_SEED'] === undefined ? undefined : Number(process.env['FLUSH_SEED'])

/** Rows whose content cannot be stored: each event has an outcome nevertheless. */
export function testFlushContent(makePlace: MakePlace): void {
  test.each<[what: string, spoiled: object]>([
    ['an object as reason', { reason: { a: 1 } }],
    ['an object without a prototype as id of its source', { sourceId: Object.create(null) }],
    ['a function, which no message between threads may hold', { reason: () => 1 }],
    ['a number that SQLite keeps and nothing can read', { acceptedAt: 1e18 }],
    ['half a millisecond', { at: NOW + 0.5 }],
    ['not a number', { attempts: Number.NaN }],
    ['a text larger than SQLite takes', { reason: { toString: null } }],
  ])('a wait with %s ends as a dead letter, and every other outcome is written', async (_, spoiled) => {
    await using run = await opened(makePlace)
    const { store, outcomes, logged } = run
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
    outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
    outcomes.journey(eventAt(2), waitAt(2))
    outcomes.journey(eventAt(3), { ...waitAt(3), ...spoiled } as JourneyWrite)
    outcomes.deadLetter(eventAt(4), letterAt(4))
    await store.flush()

    expect(await outcomesAt(store, 1)).toMatchObject([{ kind: 'plain', outcome: 'delivered' }])
    expect(await outcomesAt(store, 2)).toMatchObject([{ kind: 'journey', outcome: 'waiting' }])
    const letter = { kind: 'dead_letter', stage: 'internal', reason: 'Internal error', state: 'open' }
    expect(await outcomesAt(store, 3)).toMatchObject([{ ...letter, event: JSON.stringify(payloadAt(3)) }])
    expect(await outcomesAt(store, 4)).toMatchObject([{ kind: 'dead_letter', reason: 'answered 400' }])
    expect(await store.outcomes.positions()).toMatchObject([{ position: { offset: 9 } }])
    expect(run.internalErrors()).toBe(1)
    expect(outcomes.unwritten).toBe(0)
    expect(store.trouble()).toBe(undefined)
    expect(logged).toMatchObject([
      {
        text: 'an outcome cannot be written because of its content',
        fields: { destinationId: 'd1', offset: 3, part: 'journeys' },
      },
    ])
  })

  test('delivered events whose block cannot be written are dead letters, each of them', async () => {
    await using run = await opened(makePlace)
    const { store, outcomes } = run
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
    for (let offset = 1; offset <= 3; offset++)
      outcomes.delivered(eventAt(offset), 200, 1, NOW, 'x' as unknown as number)
    outcomes.delivered(eventAt(4), 200, 1, NOW, 1)
    await store.flush()
    const { rows } = await store.deadLetters.page({ filter: { reason: 'Internal error' }, limit: 10, before: null })
    expect(rows.map(({ offset }) => offset).sort()).toEqual([1, 2, 3])
    expect(await outcomesAt(store, 4)).toMatchObject([{ kind: 'plain' }])
  })

  test('an outcome whose attempts are an empty text can be read', async () => {
    await using run = await opened(makePlace)
    const requests = '' as unknown as null
    run.outcomes.journey(eventAt(1), { ...waitAt(1), requests })
    run.outcomes.deadLetter(eventAt(2), { ...letterAt(2), requests })
    run.outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
    await run.store.flush()
    expect(await outcomesAt(run.store, 1)).toMatchObject([{ kind: 'journey' }])
    expect(await outcomesAt(run.store, 2)).toMatchObject([{ kind: 'dead_letter' }])
  })

  test('an event that the log has lost as well is expired, as where its segment was damaged', async () => {
    await using run = await opened(makePlace)
    run.outcomes.readAccepted = async (places) => places.map(() => undefined)
    run.outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
    run.outcomes.journey(eventAt(1), { ...waitAt(1), reason: {} as string })
    await run.store.flush()
    expect(await outcomesAt(run.store, 1)).toMatchObject([{ outcome: 'expired', reason: 'segment was damaged' }])
  })

  test('whatever rows hold, each event has one outcome, its own or a dead letter, and all of them can be read', async () => {
    await using run = await opened(makePlace)
    const { store, outcomes } = run
    let end = 0
    outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: end, index: 0 } }]
    const property = fc.asyncProperty(rows, async (script) => {
      const first = end
      end += script.length
      for (const [i, { kind, spoiled }] of script.entries()) {
        const offset = first + i
        const write = kind === 'letter' ? letterAt(offset) : waitAt(offset)
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
      expect(outcomes.unwritten).toBe(0)
      await store.outcomes.resume({ destinationId: 'd1', partitions: [0] })
      expect(await store.outcomes.positions()).toMatchObject([{ position: { offset: end } }])
      for (const [i, { kind, spoiled }] of script.entries()) {
        const found = await outcomesAt(store, first + i)
        expect(found).toHaveLength(1)
        const isInternal = found[0]!.kind === 'dead_letter' && found[0]!.reason === 'Internal error'
        if (spoiled !== undefined && isInternal) continue
        expect(found[0]!.kind).toBe({ delivered: 'plain', journey: 'journey', letter: 'dead_letter' }[kind])
      }
    })
    await fc.assert(property, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }), verbose: 1 })
  }, 120_000)
}

interface Opened extends AsyncDisposable {
  readonly store: DeliveryStore
  readonly outcomes: LaneOutcomes
  readonly logged: { fields: object; text: string }[]
  readonly internalErrors: () => number
}

async function opened(makePlace: MakePlace): Promise<Opened> {
  const place = await makePlace()
  const logged: Opened['logged'] = []
  const logger = { info() {}, error: (fields: object, text: string) => void logged.push({ fields, text }) }
  const store = await place.open(new ManualClock(NOW), logger)
  const outcomes = store.outcomesOf('d1')
  let count = 0
  outcomes.onInternalErrors = (n) => {
    count += n
  }
  outcomes.readAccepted = async (places) =>
    places.map(({ offset }) => ({ sourceId: 's1', acceptedAt: NOW, event: JSON.stringify(payloadAt(offset)) }))
  const close = async () => {
    await store.close()
    await place[Symbol.asyncDispose]()
  }
  return { store, outcomes, logged, internalErrors: () => count, [Symbol.asyncDispose]: close }
}

const payloadAt = (offset: number) => ({ type: 'track', messageId: `m-${offset}` })
const waitAt = (offset: number) => wait(offset, { dueAt: NOW + 10_000 })
const letterAt = (offset: number) => letter(offset, { lastAnswer: 'no', event: JSON.stringify(payloadAt(offset)) })

async function outcomesAt(store: DeliveryStore, offset: number) {
  return (await recordedAt(store, offset)).map(([, each]) => each)
}

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

/** What a block begins with is judged where it is made, but for its revision. */
function revisionOf(spoiled: unknown): number {
  return typeof spoiled === 'number' ? spoiled : 1
}
