import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Dest, FLAGS, StageTable, type User } from './stage-table.ts'

/*
 * The eight combinations of flags over outcomes of every stage (contracts/test-api.md §6, §14 lines 1–7). What takes time
 * or memory is not multiplied by everything here; stages.long.test.ts does that.
 */

let table: StageTable
beforeAll(async () => {
  table = await StageTable.open()
}, 30_000)
afterAll(() => table?.[Symbol.asyncDispose]())

const rows: [User, Dest, Answer][] = [
  ...(['none', 'ok', 'throws', 'drops', 'several'] as const).flatMap((user) =>
    (['ok', 'throws'] as const).flatMap((dest) =>
      (['200', '404', '500', 'not JSON'] as const).map((answer): [User, Dest, Answer] => [user, dest, answer]),
    ),
  ),
  ['ok', 'ok', 'refused'],
  ['several', 'ok', 'refused'],
  ['none', 'ok', 'hangs'],
  ['none', 'ok', '100 MB'],
]

/** Each combination of flags is a test of its own: on a busy machine, code that must be stopped takes seconds in each run. */
const stopped: [User, Dest, Answer][] = [
  ['times out', 'ok', '200'],
  ['out of memory', 'ok', '200'],
]

test.each([
  ...rows.map((row) => [...row, FLAGS] as const),
  ...stopped.flatMap((row) => FLAGS.map((flags) => [...row, [flags]] as const)),
])(
  'user transformation: %s, destination transformation: %s, destination: %s',
  async (...[user, dest, answer, allFlags]) => {
    for (const flags of allFlags) {
      const { shown, expected } = await table.run(flags, user, dest, answer)
      expect(shown, JSON.stringify(flags)).toEqual(expected)
    }
  },
)
