import { expect, test } from 'vitest'
import { type Waiting, waitingSentence } from './waiting.ts'

const NOW = Date.parse('2026-03-04T17:50:00.000Z')
const reader = { now: NOW, clock: (at: Date) => `${at.toISOString().slice(11, 16)} UTC` }

const in20s = new Date(NOW + 20_000).toISOString()
const since = '2026-03-04T17:43:10.000Z'

test.each<[Partial<Waiting> & Pick<Waiting, 'cause'>, string]>([
  [
    { cause: 'destination_failing', status: 503, since, nextAttemptAt: in20s },
    'Queued: destination answers 503 since 17:43 UTC, next attempt in 20 s',
  ],
  [
    { cause: 'destination_failing', noAnswer: 'Connection refused', since, nextAttemptAt: in20s },
    'Queued: destination does not answer (Connection refused) since 17:43 UTC, next attempt in 20 s',
  ],
  [{ cause: 'destination_failing', since }, 'Queued: destination does not answer since 17:43 UTC'],
  [
    { cause: 'destination_failing', status: 503, since, nextAttemptAt: in20s, blockedBy: 'm-88' },
    'Queued behind m-88 of the same user: destination answers 503 since 17:43 UTC, next attempt in 20 s',
  ],
  [
    { cause: 'credentials_refused', status: 401, since, nextAttemptAt: new Date(NOW + 252_300).toISOString() },
    'Queued: destination refuses the credentials (401) since 17:43 UTC, next attempt in 4 min',
  ],
  [
    { cause: 'credentials_refused', noAnswer: 'authorization failed: the token endpoint answered 401', since },
    'Queued: authorization failed: the token endpoint answered 401 since 17:43 UTC',
  ],
  [
    { cause: 'retry', status: 500, nextAttemptAt: new Date(NOW + 8_400).toISOString() },
    'Queued: destination answered 500 to this event, next attempt in 9 s',
  ],
  [
    { cause: 'retry', status: 500, nextAttemptAt: in20s, blockedBy: 'm-88' },
    'Queued behind m-88 of the same user: destination answered 500 to it, next attempt in 20 s',
  ],
  [
    { cause: 'retry', noAnswer: 'Operation timed out', nextAttemptAt: in20s },
    'Queued: destination did not answer (Operation timed out) when it got this event, next attempt in 20 s',
  ],
  [
    { cause: 'retry', status: 429, nextAttemptAt: new Date(NOW - 100).toISOString() },
    'Queued: destination answered 429 to this event, next attempt now',
  ],
  [{ cause: 'retry', nextAttemptAt: in20s }, 'Queued: the last attempt failed, next attempt in 20 s'],
  [{ cause: 'order', blockedBy: 'm-88' }, 'Queued behind m-88 of the same user'],
  [{ cause: 'order' }, 'Queued behind an earlier event of the same user'],
  [{ cause: 'rate_limit' }, "Queued: the destination's rate limit is used up"],
  [{ cause: 'destination_off' }, 'Queued: the destination is off'],
  [{ cause: 'connection_off' }, 'Queued: the connection is off'],
  [{ cause: 'turn' }, 'Queued: its turn comes next'],
  [{ cause: 'sending' }, 'Being sent: the destination has not answered yet'],
])('%j reads %s', (given, sentence) => {
  const nothing = { status: null, noAnswer: null, since: null, nextAttemptAt: null, blockedBy: null }
  expect(waitingSentence({ ...nothing, ...given }, reader)).toBe(sentence)
})
