import { expect, test } from 'vitest'
import { destination } from './linkedin-capi.ts'

// What linkedin-capi.cases.ts cannot say; every-type.test.ts runs the cases.

const answer = (...statuses: number[]) => ({ elements: statuses.map((status) => ({ status })) })

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, answer(201), undefined],
  [200, answer(422), 'abort'],
  [200, answer(429), 'retry'],
  [200, answer(503), 'retry'],
  [200, 'ok', undefined],
  [422, answer(422), undefined],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})

test('each event of a batch has the outcome of its element', () => {
  const outcomes = (status: number, body: unknown) =>
    destination.batches!.outcomes!({ status, headers: {}, body }, Array(3).fill({}))
  expect(outcomes(200, answer(201, 422, 503))).toEqual(['delivered', 'abort', 'retry'])
  expect(outcomes(200, answer(201))).toEqual(['retry', 'retry', 'retry'])
  expect(outcomes(422, answer(422, 201, 201))).toBeUndefined()
})
