import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Sandboxes } from './host/sandboxes.ts'
import { closeAll, essences, open, runCode } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8. Time limits are shortened where nothing else depends on them.

afterAll(closeAll)

const same = 'export const transformEvent = (event) => event'
const given = [[{ type: 'track', messageId: 'm-0', properties: { n: 0 } }]]

const outcome = async (transformations: Sandboxes, code: string, key = 'd-1') =>
  essences(await runCode(transformations, code, { key }))

describe('memory', () => {
  const transformations = open({ limits: { memoryMb: 32, syncMs: 15_000 } })
  test.each([
    ['arrays', 'const all = []; for (;;) all.push(new Array(1000).fill(0.5))'],
    [
      'text',
      'let all = "x"; const kept = []; for (;;) { all += all.slice(0, 1e6) + Math.random(); kept.push(JSON.stringify(all)) }',
    ],
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))'],
    ['a map', 'const all = new Map(); for (let n = 0; ; n++) all.set(n, { n })'],
  ])('%s without end are stopped, and the next run has what it needs', async (key, body) => {
    expect(await outcome(transformations, `export function transformEvent() { ${body} }`, key)).toEqual([
      'Memory limit exceeded',
    ])
    expect(await outcome(transformations, same, key)).toEqual(given)
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

test.runIf(process.platform === 'linux')(
  'the memory of the processes returns to its former level',
  { timeout: 60_000 },
  async () => {
    const transformations = open({ limits: { memoryMb: 32, syncMs: 15_000, workers: 1 } })
    const bomb = 'export function transformEvent() { const all = []; for (;;) all.push(new Array(1000).fill(0.5)) }'
    await outcome(transformations, bomb)
    await outcome(transformations, same)
    const before = childBytes()
    for (let n = 0; n < 3; n++) await outcome(transformations, bomb)
    await outcome(transformations, same)
    expect(childBytes()).toBeLessThan(before + 32 * 1024 * 1024)
  },
)

/** Resident memory of all children of this process. */
function childBytes(): number {
  const threads = readdirSync('/proc/self/task')
  const children = threads.flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
  const statuses = children.filter(Boolean).map((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'))
  return statuses.reduce((sum, status) => sum + Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024, 0)
}
