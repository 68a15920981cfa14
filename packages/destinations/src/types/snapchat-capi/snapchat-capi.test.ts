import { expect, test } from 'vitest'
import { destination } from './snapchat-capi.ts'

// What snapchat-capi.cases.ts cannot say; every-type.test.ts runs the cases.

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, { status: 'VALID', reason: 'Events have been processed successfully.' }, undefined],
  [200, { status: 'INVALID', event: 0, errors: { codes: ['100'] } }, 'abort'],
  [200, 'ok', undefined],
  [500, { status: 'INVALID' }, undefined],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})
