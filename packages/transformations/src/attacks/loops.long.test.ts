import { afterAll, expect, test } from 'vitest'
import { closeAll } from '../under-test.ts'
import { attacks } from './attacks.ts'
import { attempt, openForAttacks } from './attempt.ts'

const transformations = openForAttacks(300)
afterAll(closeAll)

test.each(attacks.loops)('$name', { timeout: 60_000 }, async (attack) => {
  expect(await attempt(transformations, attack)).toEqual([])
})
