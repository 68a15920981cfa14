import { afterEach, describe, expect, test } from 'vitest'
import { computing } from './testing/computing.ts'
import { closeAll, essences, events, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §8: what slow but legal code costs others.

afterEach(closeAll)

const same = 'export const transformEvent = (event) => event'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]
/** Computes for this long. */
const busy = (ms: number) =>
  version(`export function transformEvent(event) {
  const end = Date.now() + ${ms}
  while (Date.now() < end);
  return event
}`)

describe('a destination whose code is slow', () => {
  test('runs in the penalty process once it is over its share, and one that is quick does not', async () => {
    const logged: object[] = []
    const transformations = open({ logger: { info: (fields) => logged.push(fields) } })
    const slow = busy(1_000)
    const quick = version(same)
    const run = (key: string) => transformations.run(runOf([key === 'slow' ? slow : quick], { key }))
    await run('slow')
    await run('slow')
    expect(transformations.figures().penalised).toBe(0)
    // Not the first run: on a busy machine it may get little of a processor.
    for (let n = 0; n < 20 && transformations.figures().penalised === 0; n++) {
      await Promise.all(Array.from({ length: 10 }, (_, at) => run(`quick-${at}`)))
      expect(essences(await run('slow'))).toEqual(given)
    }
    expect(logged).toEqual([{ destinationId: 'slow', why: 'over its share' }])
  })

  test('waits for those that have used less of the process', async () => {
    const transformations = open({ limits: { workers: 1 } })
    await transformations.run(runOf([busy(300)], { key: 'much' }))
    await transformations.run(runOf([busy(30)], { key: 'some' }))
    const order: string[] = []
    const holding = transformations.run(runOf([busy(200)], { key: 'first' }))
    const run = async (key: string) => {
      await transformations.run(runOf([version(same)], { key }))
      order.push(key)
    }
    await Promise.all([holding, run('much'), run('some'), run('nothing')])
    expect(order).toEqual(['nothing', 'some', 'much'])
  })

  test('holds up no other while a process is free', async () => {
    const transformations = open({ limits: { workers: 2, syncMs: 60_000 } })
    const code = version(same)
    const keys = ['a', 'b', 'c', 'd']
    const run = (key: string) => transformations.run(runOf([code], { key }))
    for (const key of keys) await run(key)
    const endless = runCode(transformations, 'export function transformEvent() { while (true) {} }', { key: 'slow' })
    // Two of them have their sandboxes where it runs.
    for (let n = 0; n < 3; n++) for (const key of keys) expect(essences(await run(key))).toEqual(given)
    await transformations.close()
    expect((await endless).trouble).toBeDefined()
  })
})

test('saving code waits for no test run', async () => {
  const transformations = open({ limits: { syncMs: 60_000 } })
  const endless = runCode(transformations, 'export function transformEvent() { while (true) {} }', { mode: 'test' })
  const check = { kind: 'transformation', language: 'javascript', code: same } as const
  expect(await transformations.check(check, [])).toMatchObject({ ok: true })
  await transformations.close()
  expect((await endless).trouble).toBeDefined()
})

test('a batch that has no time left is one that its events, alone, may have', async () => {
  const transformations = open({ limits: { syncMs: 2_000 } })
  const code = version(`export function transformEvent(event) { ${computing(700)}; return event }`)
  const together = await transformations.run(runOf([code], { events: events({}, {}, {}, {}, {}) }))
  expect(together.trouble?.kind).toBe('timed out')
  expect(await transformations.run(runOf([code], { events: events({ n: 0 }) }))).not.toHaveProperty('trouble')
})
