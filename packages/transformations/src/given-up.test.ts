import { ManualClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import type { TransformAnswer } from './fetch.ts'
import { closeAll, essences, open, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §8 and test-api.md §10: a test run ends with the wait for its result.

afterEach(closeAll)

const fetching = version('export const transformEvent = async (event) => ({ got: await fetch("http://a.example") })')
const test1 = { mode: 'test' } as const
/** One place for test runs. */
const limits = { sandboxes: 8 }

test('a test run whose caller has gone leaves the queue, and the runs behind it start', async () => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<TransformAnswer>()
  const transformations = open({
    limits,
    fetch: () => {
      asked.resolve()
      return answer.promise
    },
  })
  const first = transformations.run(runOf([fetching], test1))
  await asked.promise
  const gone = new AbortController()
  const second = transformations.run(runOf([fetching], { ...test1, signal: gone.signal }))
  const third = transformations.run(runOf([fetching], test1))
  gone.abort()
  expect(essences(await second)).toEqual(['Timed out'])
  expect(essences(await transformations.run(runOf([fetching], { ...test1, signal: gone.signal })))).toEqual([
    'Timed out',
  ])
  answer.resolve({ ok: true, url: 'http://a.example/', status: 200, headers: {}, body: '1' })
  for (const each of [first, third]) expect(essences(await each)).toEqual([[{ got: 1 }]])
  expect(transformations.figures()).toMatchObject({ runs: 2, troubles: { 'timed out': 0 } })
})

test('a test run whose caller has gone ends its requests', async () => {
  const asked = Promise.withResolvers<AbortSignal>()
  const transformations = open({
    limits,
    fetch: (_, signal) => {
      asked.resolve(signal)
      return new Promise(() => {})
    },
  })
  const gone = new AbortController()
  const run = transformations.run(runOf([fetching], { ...test1, signal: gone.signal }))
  const signal = await asked.promise
  expect(signal.aborted).toBe(false)
  gone.abort()
  expect(signal.aborted).toBe(true)
  expect(essences(await run)).toEqual(['Timed out'])
})

test('the wait for a turn is part of the time that a caller gives', async () => {
  const clock = new ManualClock(0)
  const requests: (() => void)[] = []
  let asked = Promise.withResolvers<void>()
  const transformations = open({
    limits,
    clock,
    fetch: () => {
      asked.resolve()
      return new Promise((resolve) => requests.push(() => resolve({ ok: false, message: 'no' })))
    },
  })
  const first = transformations.run(runOf([fetching], { ...test1, wallMs: 30_000 }))
  await asked.promise
  asked = Promise.withResolvers()
  const second = transformations.run(runOf([fetching], { ...test1, wallMs: 20_000 }))
  await clock.advance(15_000)
  requests[0]!()
  expect(essences(await first)).toEqual([[{ got: 'ERROR' }]])
  await asked.promise
  await clock.advance(5_001)
  expect(essences(await second)).toEqual(['Timed out'])
})
