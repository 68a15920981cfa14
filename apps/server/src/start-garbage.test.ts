import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { expect, test } from 'vitest'
import { collectGarbage, ifIdle } from './start-garbage.ts'

test('collectGarbage frees every object that nothing refers to', async () => {
  const garbage = Array.from({ length: 100 }, (_, i) => new WeakRef({ i }))
  // A reference lasts at least as long as the turn that made it.
  await setImmediate()
  collectGarbage()
  expect(garbage.filter((ref) => ref.deref() !== undefined)).toEqual([])
})

test('collectGarbage gives their room back', async () => {
  Array.from({ length: 500_000 }, (_, i) => ({ i }))
  const room = () => getHeapStatistics().total_physical_size
  const before = room()
  await setImmediate()
  collectGarbage()
  expect(before - room()).toBeGreaterThan(20e6)
})

test('ifIdle calls back after a time without work, and never after a busy one', async () => {
  let calls = 0
  ifIdle(20, () => calls++)
  for (const start = performance.now(); performance.now() - start < 200; ) await setImmediate()
  const idle = Promise.withResolvers<void>()
  ifIdle(20, idle.resolve)
  await idle.promise
  expect(calls).toBe(0)
})
