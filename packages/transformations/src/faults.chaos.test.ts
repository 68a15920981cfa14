import { ManualClock } from '@millrace/std'
import { afterEach, describe, expect, test } from 'vitest'
import type { Sandboxes } from './host/sandboxes.ts'
import { closeAll, essences, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8. Time limits are shortened where nothing else depends on them.

afterEach(closeAll)

const same = 'export const transformEvent = (event) => event'
const endless = 'export function transformEvent() { while (true) {} }'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]
const short = { limits: { syncMs: 200 } }

const outcome = async (transformations: Sandboxes, code: string, key = 'd-1') =>
  essences(await runCode(transformations, code, { key }))

describe('a destination at fault', () => {
  test('runs in the penalty process until it was clean for 10 minutes, and no other does', async () => {
    const clock = new ManualClock(0)
    const transformations = open({ clock, limits: { syncMs: 1_500, workers: 1 } })
    await outcome(transformations, same, 'innocent')
    await outcome(transformations, endless, 'guilty')
    expect(transformations.figures()).toMatchObject({ penalised: 1, children: 1 })
    expect(await outcome(transformations, same, 'guilty')).toEqual(given)
    expect(await outcome(transformations, same, 'innocent')).toEqual(given)
    expect(transformations.figures()).toMatchObject({ penalised: 1, children: 2 })
    await clock.advance(590_000)
    await outcome(transformations, endless, 'guilty')
    await clock.advance(590_000)
    expect(transformations.figures().penalised).toBe(1)
    await clock.advance(10_000)
    expect(transformations.figures().penalised).toBe(0)
    expect(await outcome(transformations, same, 'guilty')).toEqual(given)
  })

  test('costs others no run: what waits behind a lost process runs in the next one', async () => {
    const transformations = open({ limits: { workers: 1 } })
    const bomb = runCode(transformations, 'export const transformEvent = () => ({ a: new Array(1e9).fill(0) })', {
      key: 'bomb',
    })
    const others = Array.from({ length: 20 }, (_, n) => outcome(transformations, same, `d-${n}`))
    expect((await bomb).trouble).toBeDefined()
    for (const other of others) expect(await other).toEqual(given)
    expect(transformations.figures().penalised).toBe(1)
  })

  test('holds no place of live traffic while it waits for the penalty process, nor does a test run', async () => {
    const transformations = open({ limits: { syncMs: 60_000, sandboxes: 8 } })
    const keys = Array.from({ length: 10 }, (_, n) => `guilty-${n}`)
    for (const key of keys)
      await outcome(transformations, 'export const transformEvent = () => new Promise(() => {})', key)
    const endlessRuns = keys.flatMap((key) => [
      runCode(transformations, endless, { key }),
      runCode(transformations, endless, { mode: 'test' }),
    ])
    expect(await outcome(transformations, same, 'innocent')).toEqual(given)
    await transformations.close()
    await Promise.all(endlessRuns)
  })

  test('that is a test run is nobody', async () => {
    const transformations = open(short)
    await runCode(transformations, endless, { mode: 'test' })
    expect(transformations.figures().penalised).toBe(0)
  })
})

test('runs of one destination keep their order', async () => {
  const transformations = open()
  const step = version('let n = 0; export const transformEvent = async () => { await null; return { n: ++n } }')
  const runs = Array.from({ length: 20 }, () => transformations.run(runOf([step])))
  const results = await Promise.all(runs)
  expect(results.flatMap(essences)).toEqual(Array.from({ length: 20 }, (_, n) => [{ n: n + 1 }]))
})

test('closing ends what is under way as retryable', async () => {
  const transformations = open({ limits: { syncMs: 60_000 } })
  const run = runCode(transformations, endless)
  await runCode(transformations, same, { mode: 'test' })
  await transformations.close()
  expect(await run).toMatchObject({ trouble: { kind: 'sandbox lost' }, results: [{ isRetryable: true }] })
})
