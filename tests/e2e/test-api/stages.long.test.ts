import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANSWERS, DESTS, FLAGS, StageTable, USERS } from './stage-table.ts'

/*
 * Every combination that the stages can bring: 2³ flags × 7 user transformations × 2 destination transformations × 7
 * destinations (contracts/test-api.md §6, §14 lines 1–9).
 */

let table: StageTable
beforeAll(async () => {
  table = await StageTable.open()
}, 30_000)
afterAll(() => table?.[Symbol.asyncDispose]())

const rows = USERS.flatMap((user) => DESTS.flatMap((dest) => ANSWERS.map((answer) => [user, dest, answer] as const)))

test.each(rows)('user transformation: %s, destination transformation: %s, destination: %s', async (...row) => {
  for (const flags of FLAGS) {
    const { shown, expected } = await table.run(flags, ...row)
    expect(shown, JSON.stringify(flags)).toEqual(expected)
  }
})
