import type { Attempt, Journey, Waiting } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { type DeadLetterFacts, explained, type OutcomeFacts, type TraceAction } from './outcome-sentence.ts'

/* Every row of the table in contracts/dashboard.md §6, word for word; numbers and a noun after 1 as in docs/decisions/0048. */

/** In the zone of whoever runs this, as the sentences have their times. */
const NOW = new Date(2026, 2, 4, 9, 15, 0)
const wait = (facts: Partial<Waiting> & Pick<Waiting, 'cause'>): Waiting => ({
  status: null,
  noAnswer: null,
  since: null,
  nextAttemptAt: null,
  blockedBy: null,
  sentence: '',
  ...facts,
})
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString()

const attempt = (n: number, fields: Partial<Attempt> = {}): Attempt => ({
  n,
  at: at(0),
  durationMs: 84,
  status: 503,
  class: 'retry',
  text: null,
  ...fields,
})
const delivered = attempt(2, { status: 202, class: 'delivered', at: at(1) })
const tried = (...attempts: Attempt[]) => [{ attempts }]

const CODE_FAILURE =
  'RangeError: price below zero\n    at toCents (library priceRules:2:22)\n    at transformEvent (base transformation:4:33)'
const letter = (stage: DeadLetterFacts['stage'], fields: Partial<DeadLetterFacts> = {}): OutcomeFacts['letter'] => ({
  id: 'l-1',
  stage,
  attempts: 8,
  lastStatus: 503,
  ...fields,
})

interface Row {
  readonly journey: Partial<Journey>
  readonly facts?: Partial<OutcomeFacts>
  readonly sentence: string
  readonly action?: TraceAction
}

const CONFIG: TraceAction = { kind: 'open-config' }
const ROWS: readonly Row[] = [
  {
    journey: { outcome: 'delivered', requests: tried(attempt(1), delivered) },
    sentence: '202 after 2 attempts, 1 s after acceptance.',
    action: { kind: 'use-as-test' },
  },
  {
    journey: { outcome: 'delivered', requests: tried({ ...delivered, n: 1, at: at(0) }) },
    sentence: '202 after 1 attempt, 84 ms after acceptance.',
    action: { kind: 'use-as-test' },
  },
  {
    journey: { outcome: 'filtered', reason: 'integrations' },
    sentence: 'The event excludes this destination (integrations).',
    action: { kind: 'show-payload' },
  },
  {
    journey: { outcome: 'filtered', reason: 'destination is disabled' },
    sentence: 'The destination was disabled when the event was accepted.',
    action: { kind: 'send-now' },
  },
  {
    journey: { outcome: 'filtered', reason: 'device mode' },
    sentence: 'The app sends to this destination directly (device mode).',
    action: CONFIG,
  },
  {
    journey: { outcome: 'filtered', reason: 'message type not supported' },
    sentence: 'Slack does not accept alias events.',
    action: CONFIG,
  },
  {
    journey: { outcome: 'filtered', reason: 'event filter' },
    sentence: "Not in the destination's event list.",
    action: CONFIG,
  },
  {
    journey: { outcome: 'filtered', reason: 'connection rule 12' },
    sentence: 'Rule 12 of the connection excludes this event.',
    action: { kind: 'open-rules' },
  },
  {
    journey: { outcome: 'filtered', reason: 'no connection rule' },
    sentence: 'No rule of the connection allows this event.',
    action: { kind: 'open-rules' },
  },
  {
    journey: { outcome: 'filtered', reason: 'consent denied' },
    sentence: 'The user has not consented to the categories of this destination.',
    action: { kind: 'show-payload' },
  },
  {
    journey: { outcome: 'filtered', reason: 'consent missing' },
    sentence: 'The event has no consent, and its source holds such events back.',
    action: CONFIG,
  },
  {
    journey: { outcome: 'filtered', reason: 'no mapping matches' },
    sentence: 'No mapping matches this event.',
    action: CONFIG,
  },
  {
    journey: { outcome: 'dropped_by_transformation' },
    sentence: 'Add cents returned nothing.',
    action: { kind: 'open-code', place: undefined },
  },
  { journey: { outcome: 'duplicate' }, sentence: 'Same messageId as an earlier event.' },
  { journey: { outcome: 'pending' }, sentence: 'Queued: its turn comes next.' },
  {
    journey: { outcome: 'pending', waiting: wait({ cause: 'sending' }) },
    sentence: 'Being sent: the destination has not answered yet.',
  },
  {
    journey: { outcome: 'blocked', waiting: wait({ cause: 'order', blockedBy: 'm-87' }) },
    sentence: 'Queued behind m-87 of the same user.',
    action: { kind: 'open-message', messageId: 'm-87' },
  },
  {
    journey: { outcome: 'throttled', waiting: wait({ cause: 'rate_limit' }) },
    sentence: "Queued: the destination's rate limit is used up.",
    action: { kind: 'open-destination' },
  },
  {
    journey: {
      outcome: 'retrying',
      waiting: wait({ cause: 'destination_failing', status: 503, since: at(0), nextAttemptAt: at(31) }),
    },
    sentence: 'Queued: destination answers 503 since 09:15, next attempt in 31 s.',
    action: { kind: 'open-destination' },
  },
  {
    journey: { outcome: 'dead_lettered', reason: CODE_FAILURE },
    facts: { letter: letter('user_transformation') },
    sentence: 'Add cents failed: RangeError: price below zero',
    action: { kind: 'open-code', place: expect.objectContaining({ line: 4, column: 33 }) },
  },
  {
    journey: { outcome: 'dead_lettered', reason: 'Invalid URL in destination config' },
    facts: { letter: letter('dest_transformation') },
    sentence: 'The request could not be created: Invalid URL in destination config',
    action: { kind: 'test-bench' },
  },
  {
    journey: { outcome: 'dead_lettered', reason: 'retry limit reached' },
    facts: { letter: letter('delivery') },
    sentence: 'Given up after 8 attempts: retry limit reached. Last answer 503.',
    action: { kind: 'send-again', letterId: 'l-1' },
  },
  {
    journey: { outcome: 'discarded', reason: 'destination deleted' },
    sentence: 'Discarded: destination deleted.',
    action: { kind: 'send-now' },
  },
  {
    journey: { outcome: 'expired' },
    sentence: 'Expired: the storage budget was full.',
    action: { kind: 'send-now' },
  },
]

function explain({ journey, facts }: Pick<Row, 'journey' | 'facts'>) {
  return explained({
    journey: {
      destinationId: 'd',
      outcome: 'pending',
      reason: null,
      replayId: null,
      transformationVersionIds: [],
      configRevision: null,
      requests: [],
      ...journey,
    },
    eventType: 'alias',
    acceptedAt: at(0),
    destinationType: 'Slack',
    codeNames: ['Add cents'],
    letter: undefined,
    now: NOW,
    ...facts,
  })
}

test.each(ROWS)('$sentence', ({ sentence, action, ...row }) => {
  expect(explain(row)).toEqual(action === undefined ? { text: sentence } : { text: sentence, action })
})

test('a chain is named as far as it is known which code it was', () => {
  const journey = { outcome: 'dropped_by_transformation' } as const
  expect(explain({ journey, facts: { codeNames: ['Mask', 'Add cents'] } }).text).toBe(
    'Mask or Add cents returned nothing.',
  )
  expect(explain({ journey, facts: { codeNames: [] } }).text).toBe('The transformation returned nothing.')
})

test('what is not known yet, or any more, is not said', () => {
  const dead = { outcome: 'dead_lettered', reason: CODE_FAILURE } as const
  expect(explain({ journey: dead })).toEqual({ text: 'RangeError: price below zero' })
  expect(explain({ journey: { outcome: 'blocked' } })).toEqual({ text: 'Queued: its turn comes next.' })
  expect(explain({ journey: { outcome: 'delivered' } }).text).toBe('Delivered.')
})

test('what was given up without an answer tells of none', () => {
  const journey = { outcome: 'dead_lettered', reason: 'event no longer in the log' } as const
  const facts = { letter: letter('delivery', { attempts: 1, lastStatus: null }) }
  expect(explain({ journey, facts }).text).toBe('Given up after 1 attempt: event no longer in the log.')
})
