import { DEAD_LETTER_STATES, type DeadLetterFilters, STAGES } from '../../api/dead-letters.ts'
import { oneOf, type SearchValues, selection, text, time } from '../../shell/search-values.ts'

/** The filters of contracts/delivery.md §6, and the open group and panel. */
export const deadLettersSearch = {
  destinationId: text,
  sourceId: text,
  stage: oneOf(...STAGES),
  reason: text,
  state: oneOf(...DEAD_LETTER_STATES),
  userId: text,
  messageId: text,
  from: time,
  to: time,
  /** The group whose dead letters are listed, from `groupKey`. */
  group: text,
  sel: selection,
  /** The dead letter whose panel is open. */
  id: text,
}

export type DeadLettersSearch = SearchValues<typeof deadLettersSearch>

export const FILTER_NAMES = [
  'destinationId',
  'stage',
  'state',
  'reason',
  'sourceId',
  'userId',
  'messageId',
  'from',
  'to',
] as const satisfies readonly (keyof DeadLettersSearch)[]
export type FilterName = (typeof FILTER_NAMES)[number]

/** The query of the request. */
export function filtersOf(search: DeadLettersSearch): DeadLetterFilters {
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, search[name]]).filter(([, value]) => value !== undefined))
}
