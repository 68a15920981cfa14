import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectGarbage } from './start-garbage.ts'

test('collectGarbage frees every object that nothing refers to', async () => {
  const garbage = Array.from({ length: 100 }, (_, i) => new WeakRef({ i }))
  // A reference lasts at least as long as the turn that made it.
  await setImmediate()
  collectGarbage()
  expect(garbage.filter((ref) => ref.deref() !== undefined)).toEqual([])
})
