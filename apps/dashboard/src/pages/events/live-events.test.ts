import type { ListedEvent } from '@millrace/api-types'
import { expect, test } from 'vitest'
import type { TailMessage } from '../../api/tail-messages.ts'
import { type LiveEvents, MAX_LIVE_ROWS, NO_LIVE_EVENTS, nextLiveEvents, shownRows } from './live-events.ts'

const AT = Date.UTC(2026, 2, 4, 9, 15)
const event = (n: number): ListedEvent => ({
  messageId: `m-${n}`,
  sourceId: 's',
  acceptedAt: new Date(AT + n).toISOString(),
  type: 'track',
  name: 'Seat Reserved',
  userId: 'u',
  anonymousId: null,
  outcomes: [],
})
const accepted = (n: number): TailMessage => {
  const { outcomes: _, ...facts } = event(n)
  return { kind: 'accepted', ...facts }
}
const delivered = (n: number, destinationId = 'd'): TailMessage => ({
  kind: 'outcome',
  messageId: `m-${n}`,
  destinationId,
  outcome: 'delivered',
  reason: null,
  status: 200,
  durationMs: 1,
})
const after = (messages: readonly TailMessage[], live = NO_LIVE_EVENTS, isHeld = false) =>
  nextLiveEvents(live, { kind: 'messages', messages, isHeld })
const ids = (rows: readonly ListedEvent[]) => rows.map(({ messageId }) => messageId)
const outcomes = (live: LiveEvents, listed: readonly ListedEvent[], n: number) =>
  shownRows(live, listed)
    .find(({ messageId }) => messageId === `m-${n}`)
    ?.outcomes.map(({ destinationId, outcome }) => `${destinationId} ${outcome}`)

test('new events stand on top of those that were listed, each once', () => {
  const live = after([accepted(2), accepted(3)])
  expect(ids(shownRows(live, [event(2), event(1)]))).toEqual(['m-3', 'm-2', 'm-1'])
})

test('an outcome is shown at its event, whether it came live or was listed', () => {
  const live = after([accepted(2), delivered(2), delivered(1), delivered(1, 'e')])
  expect(outcomes(live, [event(1)], 2)).toEqual(['d delivered'])
  expect(outcomes(live, [event(1)], 1)).toEqual(['d delivered', 'e delivered'])
})

test('a later outcome takes the place of an earlier one at the same destination', () => {
  const retrying = { ...delivered(1), outcome: 'retrying' } as TailMessage
  const live = after([accepted(1), retrying, delivered(1)])
  expect(outcomes(live, [], 1)).toEqual(['d delivered'])
})

test('what comes while the reader looks at something else waits until it is asked for', () => {
  const held = after([accepted(2), delivered(2)], after([accepted(1)]), true)
  expect(ids(shownRows(held, []))).toEqual(['m-1'])
  expect(held.waiting.length).toBe(1)
  const released = nextLiveEvents(held, { kind: 'released' })
  expect(ids(shownRows(released, []))).toEqual(['m-2', 'm-1'])
  expect(outcomes(released, [], 2)).toEqual(['d delivered'])
  expect(released.waiting).toEqual([])
})

test('when the stream was interrupted what it told stays until the list has been read anew', () => {
  const interrupted = nextLiveEvents(after([accepted(1), accepted(2)]), { kind: 'opened' })
  const reopened = after([accepted(3)], interrupted)
  expect(ids(shownRows(reopened, []))).toEqual(['m-3', 'm-2', 'm-1'])
  const read = nextLiveEvents(reopened, { kind: 'read' })
  expect(ids(shownRows(read, [event(2), event(1)]))).toEqual(['m-3', 'm-2', 'm-1'])
})

test('an outcome that the list brings is not covered by what was told before the stream was interrupted', () => {
  const retrying = { ...delivered(1), outcome: 'retrying' } as TailMessage
  const reopened = nextLiveEvents(after([retrying]), { kind: 'opened' })
  const listed = { ...event(1), outcomes: [{ destinationId: 'd', outcome: 'delivered', reason: null }] as const }
  expect(outcomes(nextLiveEvents(reopened, { kind: 'read' }), [listed], 1)).toEqual(['d delivered'])
})

test('an outcome of an event that came live and is listed too is shown', () => {
  const live = after([delivered(2)], after([accepted(2)]))
  expect(outcomes(live, [event(2)], 2)).toEqual(['d delivered'])
})

test('events that are listed again and again come once, with their latest outcomes', () => {
  const first = nextLiveEvents(NO_LIVE_EVENTS, { kind: 'listed', events: [event(1)], isHeld: false })
  const again = { ...event(1), outcomes: [{ destinationId: 'd', outcome: 'delivered', reason: null }] as const }
  const second = nextLiveEvents(first, { kind: 'listed', events: [event(2), again], isHeld: false })
  expect(ids(second.rows)).toEqual(['m-2', 'm-1'])
  expect(outcomes(second, [], 1)).toEqual(['d delivered'])
})

test('outcomes that were left out are caught up with, and no event comes with them', () => {
  const told = { ...event(1), outcomes: [{ destinationId: 'd', outcome: 'delivered', reason: null }] as const }
  const live = nextLiveEvents(after([accepted(1)]), { kind: 'caught-up', events: [event(2), told] })
  expect(ids(live.rows)).toEqual(['m-1'])
  expect(outcomes(live, [], 1)).toEqual(['d delivered'])
})

test('what was left out is counted', () => {
  expect(
    after([
      { kind: 'skipped', count: 10 },
      { kind: 'skipped', count: 3 },
    ]).skipped,
  ).toBe(13)
})

test('of more than 10,000 live rows the oldest leave', () => {
  const live = after(Array.from({ length: MAX_LIVE_ROWS + 5 }, (_, n) => accepted(n)))
  expect(live.rows.length).toBe(MAX_LIVE_ROWS)
  expect(live.rows.at(-1)?.messageId).toBe('m-5')
})
