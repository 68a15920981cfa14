import { ManualClock } from '@millrace/std'
import { afterEach, describe, expect, test } from 'vitest'
import type { Transformations } from './host/transformations.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { closeAll, essences, events, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8. Time limits are shortened where nothing else depends on them.

afterEach(closeAll)

const same = 'export const transformEvent = (event) => event'
const endless = 'export function transformEvent() { while (true) {} }'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]
const short = { limits: { syncMs: 200 } }

const outcome = async (transformations: Transformations, code: string, key = 'd-1') =>
  essences(await runCode(transformations, code, { key }))

describe('time', () => {
  test.each([
    ['a loop', endless],
    ['a loop after an await', 'export async function transformEvent() { await null; while (true) {} }'],
    ['promises without end', 'export async function transformEvent() { for (;;) await null }'],
    ['a loop in what is thrown', 'export function transformEvent() { throw { toJSON() { while (true) {} } } }'],
    ['a loop in what is returned', 'export const transformEvent = () => ({ get a() { while (true) {} } })'],
    ['a regular expression', 'export const transformEvent = () => ({ a: /^(a+)+$/.test("a".repeat(40) + "b") })'],
    ['a loop at the top level', `while (true) {}\n${same}`],
    [
      'a loop in a stack hook',
      'Error.prepareStackTrace = () => { while (true) {} }\nexport function transformEvent() { throw new Error("x") }',
    ],
  ])('%s is stopped', async (_, code) => {
    const transformations = open(short)
    expect(await outcome(transformations, code)).toEqual(['Timed out'])
    expect(await outcome(transformations, same)).toEqual(given)
    expect(await outcome(transformations, same, 'other')).toEqual(given)
  })

  test.each([
    ['a promise that never settles', 'export const transformEvent = () => new Promise(() => {})'],
    ['a top level that never ends', `await new Promise(() => {})\n${same}`],
    ['one event of a batch', 'export const transformEvent = (e) => e.properties.n === 1 ? new Promise(() => {}) : e'],
  ])('%s ends at once', async (_, code) => {
    const transformations = open({ clock: new ManualClock(0) })
    const result = await runCode(transformations, code, { events: events({ n: 0 }, { n: 1 }) })
    expect(essences(result)).toEqual(['Timed out', 'Timed out'])
    expect(result.trouble).toEqual({ kind: 'timed out', text: 'Timed out' })
    expect(result.results.every((each) => 'error' in each && each.isRetryable)).toBe(true)
  })

  test('the defaults are those of the contract, and 4 s are what a loop gets', async () => {
    expect(DEFAULT_LIMITS).toEqual({
      memoryMb: 128,
      sandboxes: 64,
      workers: 2,
      totalMb: 512,
      syncMs: 4_000,
      wallMs: 30_000,
    })
    expect(await outcome(open(), endless)).toEqual(['Timed out'])
  })

  test('each step of a list has the whole of it', async () => {
    const transformations = open({ limits: { syncMs: 600 } })
    const slow =
      'export function transformEvent(event) { const end = Date.now() + 350; while (Date.now() < end); return event }'
    expect(essences(await transformations.run(runOf([version(slow), version(slow), version(slow)])))).toEqual(given)
  })
})

describe('memory', () => {
  test.each([
    ['arrays', 'const all = []; for (;;) all.push(new Array(1000).fill(0.5))'],
    [
      'text',
      'let all = "x"; const kept = []; for (;;) { all += all.slice(0, 1e6) + Math.random(); kept.push(JSON.stringify(all)) }',
    ],
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))'],
    ['a map', 'const all = new Map(); for (let n = 0; ; n++) all.set(n, { n })'],
  ])('%s without end are stopped, and the next run has what it needs', async (_, body) => {
    const transformations = open({ limits: { memoryMb: 32, syncMs: 15_000 } })
    expect(await outcome(transformations, `export function transformEvent() { ${body} }`)).toEqual([
      'Memory limit exceeded',
    ])
    expect(await outcome(transformations, same)).toEqual(given)
    expect(await outcome(transformations, same, 'other')).toEqual(given)
  })

  test('a sandbox that holds much after a run is closed', async () => {
    const transformations = open()
    await runCode(
      transformations,
      'globalThis.kept ??= 0; export function transformEvent(e) { globalThis.held = new Uint8Array(40e6).fill(1); return e }',
    )
    expect(transformations.figures().sandboxes).toBe(0)
    await runCode(transformations, same)
    expect(transformations.figures().sandboxes).toBe(1)
  })
})

describe('sandboxes', () => {
  const counting = version('let n = 0; export const transformEvent = () => ({ n: ++n })')
  const count = async (transformations: Transformations, key: string) =>
    essences(await transformations.run(runOf([counting], { key })))[0]

  test('200 destinations have at most 64 of them, and the same process keeps what was used last', async () => {
    const transformations = open()
    let most = 0
    const keys = Array.from({ length: 200 }, (_, n) => `d-${n}`)
    await Promise.all(
      keys.map(async (key) => {
        expect(await count(transformations, key)).toEqual([{ n: 1 }])
        most = Math.max(most, transformations.figures().sandboxes)
      }),
    )
    expect(most).toBeLessThanOrEqual(64)
    expect(transformations.figures().sandboxes).toBe(64)
    expect(await count(transformations, 'd-199')).toEqual([{ n: 2 }])
    expect(await count(transformations, 'd-0')).toEqual([{ n: 1 }])
  })

  test('the least recently used one is closed first', async () => {
    const transformations = open({ limits: { sandboxes: 2 } })
    for (const key of ['a', 'b', 'a', 'c']) await count(transformations, key)
    expect(await count(transformations, 'a')).toEqual([{ n: 3 }])
    expect(await count(transformations, 'b')).toEqual([{ n: 1 }])
  })

  test('all together have a bound of their own', async () => {
    const transformations = open({ limits: { totalMb: 30 } })
    const holding = version(
      'export function transformEvent(e) { globalThis.held ??= new Uint8Array(12e6).fill(1); return e }',
    )
    for (const key of ['a', 'b', 'c', 'd']) await transformations.run(runOf([holding], { key }))
    expect(transformations.figures().sandboxes).toBe(2)
  })

  test('after 60 s without a run they are closed, after 10 minutes their process ends', async () => {
    const clock = new ManualClock(0)
    const transformations = open({ clock })
    await count(transformations, 'a')
    await clock.advance(50_000)
    expect(transformations.figures()).toMatchObject({ sandboxes: 1, children: 1 })
    await clock.advance(20_000)
    expect(transformations.figures()).toMatchObject({ sandboxes: 0, children: 1 })
    expect(await count(transformations, 'a')).toEqual([{ n: 1 }])
    await clock.advance(700_000)
    expect(transformations.figures()).toMatchObject({ sandboxes: 0, children: 0 })
    expect(await count(transformations, 'a')).toEqual([{ n: 1 }])
  })

  test('nothing runs before the first use', () => {
    expect(open().figures()).toMatchObject({ sandboxes: 0, children: 0 })
  })
})

describe('a destination at fault', () => {
  test('runs in the penalty process until it was clean for 10 minutes, and no other does', async () => {
    const clock = new ManualClock(0)
    const transformations = open({ clock, limits: { syncMs: 200, workers: 1 } })
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
