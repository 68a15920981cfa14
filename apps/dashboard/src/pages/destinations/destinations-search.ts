import { oneOf, sortBy, text } from '../../shell/search-values.ts'

/** In the order of dashboard.md §5, the worst first; `attention` is all that somebody should look at. */
export const STATE_NAMES = ['attention', 'unauthorised', 'resting', 'behind', 'dead', 'off', 'ok'] as const
export type StateName = (typeof STATE_NAMES)[number]

export const destinationsSearch = {
  q: text,
  state: oneOf(...STATE_NAMES),
  type: text,
  sort: sortBy('name', 'type', 'state', 'rate', 'waiting', 'dead'),
}

/** Of the form: the chosen type. */
export const newDestinationSearch = { type: text }
