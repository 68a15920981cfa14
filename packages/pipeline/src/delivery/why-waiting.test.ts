import type { Waiting } from '@millrace/wording'
import { expect, test } from 'vitest'
import { waitElsewhere } from './why-waiting.ts'

const NONE = { status: null, noAnswer: null, since: null, nextAttemptAt: null, blockedBy: null }
const turn: Waiting = { ...NONE, cause: 'turn' }
const off: Waiting = { ...NONE, cause: 'destination_off' }
const failing: Waiting = { ...NONE, cause: 'destination_failing', status: 503, since: '2026-03-04T17:43:00.000Z' }
const throttled: Waiting = { ...NONE, cause: 'rate_limit' }

function stored(status: number, text: string) {
  const attempt = { n: 1, at: '2026-03-04T17:50:00.000Z', durationMs: 5, status, class: 'retry' as const, text }
  const requests = [{ method: 'POST', endpoint: 'https://hooks.example.com', headers: {}, attempts: [attempt] }]
  return { dueAt: Date.parse('2026-03-04T17:50:10.000Z'), requests }
}

const retry = { ...NONE, cause: 'retry', nextAttemptAt: '2026-03-04T17:50:10.000Z' }

test.each([
  ['nothing is known: its turn comes', turn, undefined, undefined, turn],
  ['the destination fails for its owner', turn, failing, undefined, failing],
  ['the destination fails, and the event was tried', turn, failing, stored(503, ''), failing],
  ['the destination is off: what its owner wrote before no longer counts', off, failing, undefined, off],
  ['the event alone failed', turn, undefined, stored(500, 'no'), { ...retry, status: 500 }],
  [
    'the event got no answer',
    turn,
    undefined,
    stored(500, '[ECONNREFUSED] :: Connection refused'),
    { ...retry, noAnswer: 'Connection refused' },
  ],
  ['a retry says more than the rate limit', turn, throttled, stored(500, 'no'), { ...retry, status: 500 }],
  ['the rate limit holds the event', turn, throttled, undefined, throttled],
] as const)('an event that another process delivers waits: %s', (_name, own, ofOwners, wait, expected) => {
  expect(waitElsewhere(own, ofOwners, wait)).toEqual(expected)
})
