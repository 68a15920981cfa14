import { badRequest, choice, cursorText, limitOf, nextPath, type Query, text } from '@millrace/openapi'
import { EVENT_TYPES } from '@millrace/protocol'
import { time } from '../http/time.ts'
import { formatEventCursor, parseEventCursor } from './event-cursor.ts'
import { type EventFilter, OUTCOMES } from './event-filter.ts'
import type { EventList } from './event-list.ts'
import type { ListFilter, LookPlace } from './search-calls.ts'

/**
 * The answer of GET /v2/events.
 *
 * @throws ApiError
 * @see contracts/delivery.md §8 [D623], §10
 */
export async function eventsPage(list: EventList, query: Query) {
  const limit = limitOf(query)
  const places = placesOf(query, list.ends())
  const { events, next } = await list.list(listFilterOf(query), limit, places)
  const cursor = next && formatEventCursor(next)
  return { events, paging: { total: null, next: nextPath('/v2/events', query, cursor) } }
}

/** @throws ApiError */
export function eventFilterOf(query: Query): EventFilter {
  return {
    sourceId: text(query, 'sourceId'),
    type: choice(query, 'type', EVENT_TYPES),
    name: text(query, 'name'),
    notName: text(query, 'notName'),
    userId: text(query, 'userId'),
    anonymousId: text(query, 'anonymousId'),
    outcome: choice(query, 'outcome', OUTCOMES),
    destinationId: text(query, 'destinationId'),
  }
}

function listFilterOf(query: Query): ListFilter {
  const filter = { ...eventFilterOf(query), from: time(query, 'from'), to: time(query, 'to') }
  const { from, to } = filter
  if (from !== undefined && to !== undefined && from >= to) throw badRequest('from must be before to')
  return filter
}

function placesOf(query: Query, ends: readonly number[]): LookPlace[] | undefined {
  const given = cursorText(query)
  if (given === undefined) return undefined
  const places = parseEventCursor(given, ends)
  if (places === undefined) throw badRequest('Invalid cursor')
  return places
}
