import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Sandboxes } from './host/sandboxes.ts'
import { BusyProcessor, canBindProcesses } from './testing/busy-processor.ts'
import { computing } from './testing/computing.ts'
import { closeAll, essences, open, runCode } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8: on a busy machine time limits measure the code.

const SYNC_MS = 200
const same = 'export const transformEvent = (event) => event'
const honest = `export function transformEvent(event) { ${computing(SYNC_MS / 4)}; return event }`
const endless = 'export function transformEvent() { while (true) {} }'
const neverSettles = 'export const transformEvent = () => new Promise(() => {})'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]

let logged: { destinationId?: string; waitedMs?: number; text: string }[]
beforeEach(() => {
  logged = []
})
afterEach(closeAll)

function opened(limits: { syncMs?: number; wallMs?: number } = {}): Sandboxes {
  const warn = (fields: object, text: string) => logged.push({ ...fields, text })
  return open({
    limits: { syncMs: SYNC_MS, wallMs: 120_000, workers: 1, ...limits },
    logger: { warn },
  })
}

/** Starts every process of user code, so that it can be bound. Destination `guilty` runs in the penalty process. */
async function started(transformations: Sandboxes): Promise<Sandboxes> {
  await runCode(transformations, same)
  await runCode(transformations, same, { mode: 'test' })
  await runCode(transformations, neverSettles, { key: 'guilty' })
  await runCode(transformations, same, { key: 'guilty' })
  await transformations.check({ kind: 'transformation', language: 'javascript', code: same }, [])
  expect(transformations.figures()).toMatchObject({ children: 4, penalised: 1 })
  return transformations
}

describe.runIf(canBindProcesses)('on a processor that is busy with other processes', () => {
  test('honest code finishes, and its destination is not penalised', async () => {
    const transformations = await started(opened())
    using _ = new BusyProcessor()
    for (let n = 0; n < 3; n++) {
      const result = await runCode(transformations, honest, { key: `innocent-${n}` })
      expect(essences(result)).toEqual(given)
    }
    expect(transformations.figures()).toMatchObject({ penalised: 1, children: 4 })
    expect(logged[0]).toEqual({
      destinationId: 'innocent-0',
      waitedMs: expect.any(Number),
      text: expect.stringMatching(/^the machine is overloaded: .* runs again with more time$/),
    })
  })

  test('so it does in the penalty process, in a test run, and when it is saved', async () => {
    const transformations = await started(opened())
    using _ = new BusyProcessor()
    const code = honest + '\n// '.padEnd(200_000, 'x')
    const checked = await transformations.check({ kind: 'transformation', language: 'typescript', code }, [])
    expect(checked).toMatchObject({ ok: true })
    expect(essences(await runCode(transformations, honest, { mode: 'test' }))).toEqual(given)
    expect(essences(await runCode(transformations, honest, { key: 'guilty' }))).toEqual(given)
  })

  test.each(['live', 'test'] as const)('endless code is stopped in a %s run', async (mode) => {
    const transformations = await started(opened())
    {
      using _ = new BusyProcessor()
      const { trouble } = await runCode(transformations, endless, { mode, key: 'endless' })
      expect(trouble).toEqual({ kind: 'timed out', text: 'Timed out' })
    }
    expect(transformations.figures().penalised).toBe(mode === 'live' ? 2 : 1)
    expect(essences(await runCode(transformations, same))).toEqual(given)
  })

  test('code that can never settle ends at once', async () => {
    const transformations = await started(opened())
    using _ = new BusyProcessor()
    const { trouble } = await runCode(transformations, neverSettles, { key: 'never' })
    expect(trouble).toEqual({ kind: 'timed out', text: 'Timed out' })
    expect(transformations.figures().penalised).toBe(2)
  })

  test('a run that reaches the wall limit says that it starved, and its destination is not penalised', async () => {
    const transformations = await started(opened({ syncMs: 900, wallMs: 1_000 }))
    const code = `export function transformEvent(event) { ${computing(600)}; return event }`
    {
      using _ = new BusyProcessor()
      const { trouble } = await runCode(transformations, code)
      expect(trouble).toEqual({ kind: 'timed out', text: 'Timed out', starved: { computedShare: expect.any(Number) } })
    }
    // Of the guilty one.
    expect(transformations.figures()).toMatchObject({ penalised: 1, troubles: { 'timed out': 1 } })
    expect(logged.at(-1)!.text).toMatch(/^the machine is overloaded: .* could not finish$/)
  })
})
