import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectGarbage, onceIdle } from './start-garbage.ts'

test('collectGarbage frees every object that nothing refers to', async () => {
  const garbage = Array.from({ length: 100 }, (_, i) => new WeakRef({ i }))
  // A reference lasts at least as long as the turn that made it.
  await setImmediate()
  collectGarbage()
  expect(garbage.filter((ref) => ref.deref() !== undefined)).toEqual([])
})

test('onceIdle calls back once, and not while the thread is busy', async () => {
  let calls = 0
  onceIdle(20, () => calls++)
  for (const start = performance.now(); performance.now() - start < 200; ) await setImmediate()
  expect(calls).toBe(0)
  await expect.poll(() => calls).toBe(1)
  const later = Promise.withResolvers<void>()
  onceIdle(20, later.resolve)
  await later.promise
  expect(calls).toBe(1)
})
