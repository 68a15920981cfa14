import { EVENT_TYPES } from '@millrace/protocol/event'
import { oneOf, type Reader, text } from '../../shell/search-values.ts'

const SORTS = ['name', 'type', 'source', 'events', 'versions', 'keys', 'cut', 'last'].flatMap((key) => [key, `-${key}`])
const sort: Reader<string> = (given) => (SORTS.includes(given) ? given : undefined)

export const schemaSearch = { source: text, type: oneOf(...EVENT_TYPES), q: text, sort }

export const MODEL_TABS = ['keys', 'versions', 'missing', 'values', 'samples', 'json'] as const
export type ModelTab = (typeof MODEL_TABS)[number]

/** Two versions are compared: what `version` changed `against` the other. */
const KEY_SORTS = ['path', 'type', 'conflict', 'share', 'lacking'].flatMap((key) => [key, `-${key}`])
const keySort: Reader<string> = (given) => (KEY_SORTS.includes(given) ? given : undefined)

export const modelSearch = { tab: oneOf(...MODEL_TABS), version: text, against: text, q: text, sort: keySort }
