import { EVENT_TYPES } from '@millrace/protocol/event'
import { oneOf, sortBy, text } from '../../shell/search-values.ts'

export const schemaSearch = {
  source: text,
  type: oneOf(...EVENT_TYPES),
  q: text,
  sort: sortBy('name', 'type', 'source', 'events', 'versions', 'keys', 'cut', 'last'),
}

const MODEL_TABS = ['keys', 'versions', 'missing', 'values', 'samples', 'json'] as const
export type ModelTab = (typeof MODEL_TABS)[number]

export const modelSearch = {
  tab: oneOf(...MODEL_TABS),
  /** Compares two versions: the changes of `version` `against` the other. */
  version: text,
  against: text,
  q: text,
  sort: sortBy('path', 'type', 'conflict', 'share', 'lacking'),
}
