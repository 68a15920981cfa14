/** What limits have cut of a source; it only grows. @see contracts/schema-catalog.md §9 [D331] */
export interface CutCounts {
  /** Events whose identifier had no model of its own any more. */
  models: number
  /** Shapes that could not become a version; one that comes back after a while may count again. */
  versions: number
  unversionedEvents: number
  keys: number
  arrayItems: number
  /** Values that got no counter, and keys whose counters were reduced. */
  values: number
  paths: number
}

export type CutKind = keyof CutCounts

export const CUT_KINDS: readonly CutKind[] = [
  'models',
  'versions',
  'unversionedEvents',
  'keys',
  'arrayItems',
  'values',
  'paths',
]

export function noCuts(): CutCounts {
  return { models: 0, versions: 0, unversionedEvents: 0, keys: 0, arrayItems: 0, values: 0, paths: 0 }
}
