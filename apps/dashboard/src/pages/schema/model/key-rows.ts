import type { EventVersion, KeyTypes } from '@millrace/api-types'

/** One key path of a model. */
export interface KeyRow {
  readonly path: string
  /** One type, or several if events differ. */
  readonly types: readonly string[]
  /** Number of events with the key; null if unknown. */
  readonly events: number | null
  /** Number of stored versions without the key. */
  readonly lacking: number
}

export function keyRows(
  schema: KeyTypes,
  counts: Readonly<Record<string, number>>,
  versions: readonly EventVersion[],
): KeyRow[] {
  const holding = new Map<string, number>()
  for (const version of versions) {
    for (const path of Object.keys(version.Schema)) holding.set(path, (holding.get(path) ?? 0) + 1)
  }
  return Object.entries(schema)
    .map(([path, types]) => ({
      path,
      types: types.split(','),
      events: Object.hasOwn(counts, path) ? counts[path]! : null,
      lacking: versions.length - (holding.get(path) ?? 0),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
