import { expect, test } from 'vitest'
import { destination } from './zendesk.ts'

// What zendesk.cases.ts cannot say; every-type.test.ts runs the cases.

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, { user: { id: 1 } }, undefined],
  [409, { error: 'Conflict' }, 'retry'],
  [422, { error: 'RecordInvalid' }, undefined],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})
