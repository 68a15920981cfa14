import { afterAll, expect, test } from 'vitest'
import { closeAll } from '../under-test.ts'
import { attacks } from './attacks.ts'
import { attempt, openForAttacks } from './attempt.ts'

const transformations = openForAttacks(10_000)
afterAll(closeAll)

test.each([...attacks.chains, ...attacks.hooks, ...attacks.inputsAndOutputs, ...attacks.ways])(
  '$name',
  { timeout: 60_000 },
  async (attack) => {
    expect(await attempt(transformations, attack)).toEqual([])
  },
)

test('there are a hundred attacks and more, each with a name of its own', () => {
  const all = Object.values(attacks).flat()
  expect(all.length).toBeGreaterThanOrEqual(100)
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})
