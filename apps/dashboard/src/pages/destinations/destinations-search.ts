import { oneOf, type Reader, text } from '../../shell/search-values.ts'

const SORTS = ['name', 'type', 'state', 'rate', 'waiting', 'dead'].flatMap((key) => [key, `-${key}`])
const sort: Reader<string> = (given) => (SORTS.includes(given) ? given : undefined)

/** In the order of dashboard.md §5, the worst first. */
export const STATE_NAMES = ['unauthorised', 'resting', 'behind', 'dead', 'off', 'ok'] as const
export type StateName = (typeof STATE_NAMES)[number]

export const destinationsSearch = { q: text, state: oneOf(...STATE_NAMES), type: text, sort }

/** Of the form: the chosen type. */
export const newDestinationSearch = { type: text }
