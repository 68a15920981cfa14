import { expect, test } from 'vitest'
import { destination } from './facebook-capi.ts'

// What facebook-capi.cases.ts cannot say; every-type.test.ts runs the cases.

test.each<[status: number, body: unknown, judged: string | number | undefined]>([
  [200, { events_received: 1 }, undefined],
  [400, { error: { code: 100 } }, undefined],
  [400, { error: { code: 100, is_transient: true } }, 503],
  ...[102, 190].map((code): [number, unknown, number] => [400, { error: { code } }, 401]),
  ...[4, 17, 341, 613, 80004].map((code): [number, unknown, number] => [400, { error: { code } }, 429]),
  ...[1, 2].map((code): [number, unknown, number] => [400, { error: { code } }, 503]),
  [400, { error: { code: '4' } }, undefined],
  [403, { error: { code: 4 } }, 429],
  ...[10, 200, 299].map((code): [number, unknown, number] => [400, { error: { code } }, 403]),
  ...[199, 300].map((code): [number, unknown, undefined] => [400, { error: { code } }, undefined]),
  [500, { error: { code: 190 } }, undefined],
  [400, 'no JSON', undefined],
])('an answer %i %j is %s', (status, body, judged) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(judged)
})
