import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { ManualClock } from '@millrace/std'
import { afterEach, describe, expect, test } from 'vitest'
import type { TransformAnswer } from './fetch.ts'
import type { Sandboxes } from './host/sandboxes.ts'
import { closeAll, essences, open, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §7 and §8. Time limits are shortened where nothing else depends on them.

afterEach(closeAll)

describe('sandboxes', () => {
  const counting = version('let n = 0; export const transformEvent = () => ({ n: ++n })')
  const count = async (transformations: Sandboxes, key: string) =>
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

  test.skipIf(process.platform !== 'linux')(
    'one that begins again after its process was killed counts, and is closed when it is idle',
    async () => {
      const clock = new ManualClock(0)
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<TransformAnswer>()
      const fetch = () => {
        asked.resolve()
        return answer.promise
      }
      const transformations = open({ clock, fetch, limits: { workers: 1 } })
      const fetching = version(`let n = 0
        export const transformEvent = async () => ({ n: ++n, answer: await fetch("https://a.example") })`)
      const run = async () => essences(await transformations.run(runOf([fetching])))
      const waiting = run()
      await asked.promise
      for (const pid of childIds()) process.kill(pid, 'SIGKILL')
      await expect.poll(() => transformations.figures()).toMatchObject({ sandboxes: 0, children: 0 })
      answer.resolve({ ok: true, url: 'https://a.example/', status: 200, headers: {}, body: '7' })
      expect(await waiting).toEqual([[{ n: 1, answer: 7 }]])
      expect(transformations.figures()).toMatchObject({ sandboxes: 1, children: 1 })
      await clock.advance(70_000)
      expect(transformations.figures()).toMatchObject({ sandboxes: 0, children: 1 })
      expect(await run()).toEqual([[{ n: 1, answer: 7 }]])
    },
  )

  test('what is prepared for the next test run has nothing of the one before', async () => {
    const transformations = open()
    const leaving = version(`export function transformEvent() {
      const found = typeof globalThis.left
      globalThis.left = Array.prototype.left = 1
      return { found, inherited: typeof [].left }
    }`)
    const fresh = { found: 'undefined', inherited: 'number' }
    for (let run = 0; run < 4; run++) {
      expect(essences(await transformations.run(runOf([leaving], { mode: 'test' })))).toEqual([[fresh]])
    }
  })

  test.skipIf(process.platform !== 'linux')(
    'live traffic has the processor before test runs, both before the penalty',
    async () => {
      const transformations = open({ limits: { workers: 1 } })
      const own = getPriority()
      await count(transformations, 'a')
      expect(childPriorities()).toEqual([own + 5])
      await transformations.run(runOf([counting], { mode: 'test' }))
      expect(childPriorities()).toEqual([own + 5, own + 10])
      const never = version('export const transformEvent = () => new Promise(() => {})')
      for (let run = 0; run < 2; run++) await transformations.run(runOf([never], { key: 'guilty' }))
      expect(childPriorities()).toEqual([own + 5, own + 10, own + 15])
    },
  )

  test('nothing runs before the first use', () => {
    expect(open().figures()).toMatchObject({ sandboxes: 0, children: 0 })
  })
})

/** Of the processes that this one has started and that are alive, in the order of their start. */
function childPriorities(): number[] {
  return childIds().map((pid) => getPriority(pid))
}

function childIds(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1')
  return children.trim().split(' ').map(Number)
}
