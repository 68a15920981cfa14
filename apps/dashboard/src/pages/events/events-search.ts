import { EVENT_TYPES } from '@millrace/protocol/event'
import { type EventFilters, OUTCOMES } from '../../api/events.ts'
import { oneOf, type SearchValues, text, time } from '../../shell/search-values.ts'

export const eventsSearch = {
  source: text,
  type: oneOf(...EVENT_TYPES),
  name: text,
  notName: text,
  user: text,
  anon: text,
  outcome: oneOf(...OUTCOMES),
  destination: text,
  from: time,
  to: time,
  /** New events appear as they arrive unless this is `off`. */
  live: oneOf('off'),
  /** messageId of the event whose panel is open. */
  event: text,
}

export type EventsSearch = SearchValues<typeof eventsSearch>

export interface AskedEvents extends EventFilters {
  readonly from?: string
  readonly to?: string
}

/** The query of the request. */
export function askedEvents(search: EventsSearch): AskedEvents {
  const { source, type, name, notName, user, anon, outcome, destination, from, to } = search
  const asked = {
    sourceId: source,
    type,
    name,
    notName,
    userId: user,
    anonymousId: anon,
    outcome,
    destinationId: destination,
    from,
    to,
  }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}

/** The filters for users, in the order of the fields. */
export const FILTER_NAMES = [
  'name',
  'notName',
  'user',
  'anon',
  'source',
  'type',
  'outcome',
  'destination',
  'from',
  'to',
] as const satisfies readonly (keyof EventsSearch)[]
export type FilterName = (typeof FILTER_NAMES)[number]
