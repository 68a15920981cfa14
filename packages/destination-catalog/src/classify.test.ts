import { expect, test } from 'vitest'
import { unitOutcome } from './classify.ts'
import type { PooledEnd } from './host/guest-pool.ts'
import type { Thrown } from './messages.ts'

const FACTS = { lastStatus: undefined, refused: undefined, faults: 0 }
const ended = (thrown: Thrown | undefined): PooledEnd => ({
  kind: 'ends',
  ends: [{ mapping: 0, requests: [], thrown }],
})

/** contracts/destination-catalog.md §9.2, row by row. */
test.each<[string, PooledEnd, string, number]>([
  ['it resolved', ended(undefined), 'delivered', 200],
  ['validation', ended({ kind: 'validation', text: 'x' }), 'abort', 400],
  ...[401, 403, 408, 423, 429, 500, 503].map((status): [string, PooledEnd, string, number] => [
    `an answer ${status}`,
    ended({ kind: 'answer', status, text: 'x' }),
    'retry',
    status,
  ]),
  ...[304, 400, 404, 413, 422, 501].map((status): [string, PooledEnd, string, number] => [
    `an answer ${status}`,
    ended({ kind: 'answer', status, text: 'x' }),
    'abort',
    status,
  ]),
  ['an error of its own with 503', ended({ kind: 'status', status: 503, text: 'x' }), 'retry', 503],
  ['an error of its own with 400', ended({ kind: 'status', status: 400, text: 'x' }), 'abort', 400],
  ['RetryableError', ended({ kind: 'retryable', status: 500, text: 'x' }), 'retry', 500],
  ['no answer', ended({ kind: 'noAnswer', text: 'x' }), 'retry', 500],
  ['too many requests', ended({ kind: 'bound', text: 'too many requests' }), 'abort', 400],
  ['another thrown value', ended({ kind: 'code', text: 'x' }), 'retry', 500],
  ['the deadline', { kind: 'late' }, 'retry', 504],
  ['a lost worker', { kind: 'lost' }, 'retry', 504],
  ['a crashed worker', { kind: 'crashed' }, 'abort', 500],
  ['a full queue', { kind: 'busy' }, 'retry', 503],
])('%s', (_name, end, kind, status) => {
  expect(unitOutcome(end, FACTS)).toMatchObject({ kind, status })
})

test('a fault of code or worker is aborted at the third attempt, with its text', () => {
  const code = ended({ kind: 'code', text: 'x is not a function' })
  expect(unitOutcome(code, { ...FACTS, faults: 1 })).toMatchObject({ kind: 'retry', isFault: true })
  const text = 'DESTINATION_CODE_ERROR: x is not a function'
  expect(unitOutcome(code, { ...FACTS, faults: 2 })).toMatchObject({ kind: 'abort', status: 500, text })
  expect(unitOutcome({ kind: 'late' }, { ...FACTS, faults: 2 })).toMatchObject({ kind: 'abort', text: 'Timed out' })
})

test('a refused request aborts whatever the code makes of it', () => {
  const facts = { ...FACTS, refused: 'request to a refused host' }
  expect(unitOutcome(ended(undefined), facts)).toMatchObject({ kind: 'abort', status: 403 })
})

test('validation is a fault of the transformation, and everything else of the delivery', () => {
  expect(unitOutcome(ended({ kind: 'validation', text: 'x' }), FACTS).stage).toBe('dest_transformation')
  expect(unitOutcome(ended({ kind: 'status', status: 400, text: 'x' }), FACTS).stage).toBe('delivery')
})
