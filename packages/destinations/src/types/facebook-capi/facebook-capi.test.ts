import { expect, test } from 'vitest'
import { destination } from './facebook-capi.ts'

// What facebook-capi.cases.ts cannot say; every-type.test.ts runs the cases.

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, { events_received: 1 }, undefined],
  [400, { error: { code: 100 } }, undefined],
  [400, { error: { code: 100, is_transient: true } }, 'retry'],
  [400, { error: { code: 190 } }, 'retry'],
  ...[1, 2, 4, 17, 102, 341, 613, 80004].map((code): [number, unknown, string] => [400, { error: { code } }, 'retry']),
  [400, { error: { code: '4' } }, undefined],
  [403, { error: { code: 4 } }, undefined],
  [400, 'no JSON', undefined],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})
