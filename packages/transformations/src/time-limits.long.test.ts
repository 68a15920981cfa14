import { ManualClock } from '@millrace/std'
import { afterAll, describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from './limits.ts'
import { computing } from './testing/computing.ts'
import { closeAll, essences, events, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8. Time limits are shortened where nothing else depends on them.

const transformations = open({ limits: { syncMs: 200 } })
afterAll(closeAll)

const same = 'export const transformEvent = (event) => event'
const endless = 'export function transformEvent() { while (true) {} }'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]

const outcome = async (code: string, key: string) => essences(await runCode(transformations, code, { key }))

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
  ])('%s is stopped', async (name, code) => {
    expect(await outcome(code, name)).toEqual(['Timed out'])
    expect(await outcome(same, name)).toEqual(given)
    expect(await outcome(same, 'other')).toEqual(given)
  })

  // No time passes by this clock.
  const timeless = open({ clock: new ManualClock(0) })
  test.each([
    ['a promise that never settles', 'export const transformEvent = () => new Promise(() => {})'],
    ['a top level that never ends', `await new Promise(() => {})\n${same}`],
    ['one event of a batch', 'export const transformEvent = (e) => e.properties.n === 1 ? new Promise(() => {}) : e'],
  ])('%s ends at once', async (key, code) => {
    const result = await runCode(timeless, code, { key, events: events({ n: 0 }, { n: 1 }) })
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
    expect(essences(await runCode(open(), endless))).toEqual(['Timed out'])
  })

  test('the steps of a list have it together', async () => {
    const transformations = open({ limits: { syncMs: 600 } })
    const slow = `export function transformEvent(event) { ${computing(250)}; return event }`
    const steps = (count: number) => Array.from({ length: count }, () => version(slow))
    expect(essences(await transformations.run(runOf(steps(1))))).toEqual(given)
    expect(essences(await transformations.run(runOf(steps(10))))).toEqual(['Timed out'])
  })

  test('so has a run before and after its requests', async () => {
    const fetch = async () => ({ ok: true, url: '', status: 200, headers: {}, body: '1' }) as const
    const transformations = open({ limits: { syncMs: 600 }, fetch })
    const slow = `export async function transformEvent(event) {
      for (let n = 0; n < event.properties.n; n++) {
        ${computing(100)}
        await fetch('http://a.example')
      }
      return { done: true }
    }`
    expect(essences(await runCode(transformations, slow, { events: events({ n: 1 }) }))).toEqual([[{ done: true }]])
    expect(essences(await runCode(transformations, slow, { events: events({ n: 20 }) }))).toEqual(['Timed out'])
  })
})
