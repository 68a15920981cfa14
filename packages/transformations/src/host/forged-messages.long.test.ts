import { afterAll, beforeAll, expect, test } from 'vitest'
import { FORGERIES } from '../testing/forgeries.ts'
import { closeAll, essences, events, open, runOf, version } from '../under-test.ts'
import type { Sandboxes } from './sandboxes.ts'

// Promises of contracts/transformations.md §8, with a child that forges what it says.

const program = new URL('../testing/forging-child.ts', import.meta.url).pathname
const same = version('export const transformEvent = (event) => event')
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]
const lost: string[] = []
let transformations: Sandboxes
beforeAll(() => {
  transformations = open({ program, limits: { syncMs: 2_000 }, logger: { warn: (_fields, text) => lost.push(text) } })
})
afterAll(closeAll)

test.each(Object.keys(FORGERIES))('a child that says: %s', { timeout: 60_000 }, async (forge) => {
  const before = { lost: lost.length, ...transformations.figures() }
  const result = await transformations.run(runOf([same], { key: forge, events: events({ forge }, {}) }))
  const { trouble } = result
  expect(trouble?.kind).toMatch(/invalid message|timed out|sandbox lost/)
  expect(result.results).toEqual(
    Array.from({ length: 2 }, () => expect.objectContaining({ error: trouble!.text, isRetryable: true })),
  )
  expect(result.logs).toEqual([])
  const after = transformations.figures()
  expect(after.troubles[trouble!.kind]).toBe(before.troubles[trouble!.kind] + 1)
  // The destination that did it is set apart, its child is gone, and all go on.
  expect(after.penalised).toBe(before.penalised + 1)
  for (const key of [forge, 'other']) expect(essences(await transformations.run(runOf([same], { key })))).toEqual(given)
  if (trouble!.kind === 'invalid message') expect(lost.length).toBeGreaterThan(before.lost)
})

test('so does a test run, and saving code', async () => {
  const run = runOf([same], { mode: 'test', events: events({ forge: 'an owner that is a prototype' }) })
  expect(essences(await transformations.run(run))).toEqual(['Sandbox sent an invalid message'])
  expect(essences(await transformations.run(runOf([same], { mode: 'test' })))).toEqual(given)
  const { code } = same
  expect(await transformations.check({ kind: 'transformation', language: 'javascript', code }, [])).toMatchObject({
    ok: true,
  })
})
