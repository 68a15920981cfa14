import type { LaneEvent } from '@millrace/delivery'
import { ManualClock } from '@millrace/std'
import type { Run, RunResult, RunTrouble } from '@millrace/transformations'
import { expect, test } from 'vitest'
import { LiveUserCode } from './live-user-code.ts'

// Promises of contracts/transformations.md §8 [D433, D436] about runs that fail; the runs themselves are given.

const TIMED_OUT: RunTrouble = { kind: 'timed out', text: 'Timed out' }
const STARVED: RunTrouble = { ...TIMED_OUT, starved: { computedShare: 0.01 } }
const LOST: RunTrouble = { kind: 'sandbox lost', text: 'Sandbox lost' }
const MINUTES = 60

type Run1 = Omit<Run, 'key' | 'steps'>
interface Shown {
  readonly outcomes: readonly string[]
  readonly runs: readonly Run1[]
  readonly seconds: number
  readonly errors: number
}

/** Transforms events, second by second. @param troubleOf of a run; undefined if it succeeds. */
async function transformed(count: number, troubleOf: (run: Run1, number: number) => RunTrouble | undefined) {
  const clock = new ManualClock(0)
  const runs: Run1[] = []
  let errors = 0
  const code = new LiveUserCode({
    destination: {
      id: 'd1',
      delivery: {} as never,
      transformations: [{ transformationId: 't1', versionId: 'v1', language: 'javascript', code: '', libraries: [] }],
    },
    stages: {
      userMetadata: () => ({}),
      userTransform: async (_, run) => {
        runs.push(run)
        return resultOf(run, troubleOf(run, runs.length))
      },
    },
    userCode: { run: never, credentials: () => new Map(), capturesLogs: () => false, onLog: never },
    clock,
    sourceOf: () => undefined,
    onError: () => errors++,
    onFlow: () => {},
    logger: { warn() {}, error() {} },
  })
  const events = Array.from({ length: count }, (_, n) => {
    return {
      payload: { messageId: `m-${n}` },
      sourceId: 's1',
      partition: 0,
      offset: n,
      index: 0,
    } as unknown as LaneEvent
  })
  let outcomes: readonly string[] | undefined
  void Promise.resolve(code.transform(events)).then((results) => {
    outcomes = results.map(({ kind }) => kind)
  })
  let seconds = 0
  for (; outcomes === undefined && seconds < 60 * MINUTES; seconds++) await clock.advance(1_000)
  return { outcomes: outcomes!, runs, seconds, errors } satisfies Shown
}

function never(): never {
  throw new Error('is not called')
}

function resultOf({ events }: Run1, trouble: RunTrouble | undefined): RunResult {
  const told = { flow: [], logs: [], loggedBy: [], loggedFor: [], usedCredentials: [] }
  if (trouble === undefined) return { ...told, results: events.map(({ event }) => ({ events: [event], sizeBytes: 1 })) }
  const error = { error: trouble.text, transformationId: 't1', versionId: 'v1', isRetryable: true }
  return { ...told, results: events.map(() => error), trouble }
}

test('an event fails after three faults', async () => {
  const { outcomes, runs } = await transformed(1, () => LOST)
  expect(outcomes).toEqual(['failed'])
  expect(runs).toHaveLength(3)
})

test('a starved run is no fault: it is repeated, a second later', async () => {
  const { outcomes, seconds, errors } = await transformed(1, (_, number) => (number <= 20 ? STARVED : undefined))
  expect(outcomes).toEqual(['events'])
  expect(seconds).toBeGreaterThanOrEqual(20)
  expect(errors).toBe(0)
})

test('a starved batch runs again event by event', async () => {
  const { outcomes, runs } = await transformed(3, ({ events }) => (events.length > 1 ? STARVED : undefined))
  expect(outcomes).toEqual(['events', 'events', 'events'])
  expect(runs.map(({ events }) => events.length)).toEqual([3, 1, 1, 1])
})

const byTheClock = ({ countsWaits }: Run1) => countsWaits === true
const unlessByTheClock = (starved: RunTrouble) => (run: Run1) => (byTheClock(run) ? TIMED_OUT : starved)

test('for five minutes; then limits are by the clock, and three time-outs are the end of the event', async () => {
  const { outcomes, runs, seconds } = await transformed(1, unlessByTheClock(STARVED))
  expect(outcomes).toEqual(['failed'])
  expect(runs.filter(byTheClock)).toHaveLength(3)
  expect(seconds).toBeGreaterThan(5 * MINUTES - 250)
  expect(seconds).toBeLessThanOrEqual(5 * MINUTES + 1)
})

test('or until starved runs have together computed for as long as one run may', async () => {
  const { outcomes, runs } = await transformed(1, unlessByTheClock({ ...TIMED_OUT, starved: { computedShare: 0.25 } }))
  expect(outcomes).toEqual(['failed'])
  expect(runs.map(byTheClock)).toEqual([false, false, false, false, true, true, true])
})

test('or until the code itself has timed out', async () => {
  const { outcomes, runs } = await transformed(1, (_, number) => (number === 1 ? STARVED : TIMED_OUT))
  expect(outcomes).toEqual(['failed'])
  expect(runs.map(byTheClock)).toEqual([false, false, true, true])
})
