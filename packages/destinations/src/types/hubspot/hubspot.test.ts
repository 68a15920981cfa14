import { expect, test } from 'vitest'
import { destination } from './hubspot.ts'

// What hubspot.cases.ts cannot say; every-type.test.ts runs the cases.

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, { status: 'COMPLETE', results: [] }, undefined],
  [207, { errors: [{ category: 'VALIDATION_ERROR' }] }, 'abort'],
  [400, { errors: [{ category: 'VALIDATION_ERROR' }] }, undefined],
  [423, '', 'retry'],
  [477, { message: 'migration in progress' }, 'retry'],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})
