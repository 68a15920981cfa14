import type { Connection } from './connection.ts'
import type { Destination } from './destination.ts'
import type { Source } from './source.ts'

/**
 * The configuration as of one revision. Never changed: a change makes another one, so whoever holds one sees sources,
 * destinations and connections that fit together. Each map is in order of creation.
 */
export interface Snapshot {
  readonly revision: number
  readonly sources: ReadonlyMap<string, Source>
  readonly destinations: ReadonlyMap<string, Destination>
  readonly connections: ReadonlyMap<string, Connection>
  /** By its write key, or by one rotated away whose grace has not ended. */
  sourceByWriteKey(writeKey: string): Source | undefined
  connectionsOf(sourceId: string): readonly Connection[]
}

export type Resources = Pick<Snapshot, 'sources' | 'destinations' | 'connections'>

/** @param now the wall clock, by which rotated write keys end. */
export function buildSnapshot(revision: number, resources: Resources, now: () => number): Snapshot {
  const { sources, destinations, connections } = resources
  const byWriteKey = new Map<string, { source: Source; expiresAt: number }>()
  // A key that has expired may have been given to another source meanwhile, so it is left out.
  for (const source of sources.values()) {
    byWriteKey.set(source.writeKey, { source, expiresAt: Number.POSITIVE_INFINITY })
    for (const { key, expiresAt } of source.previousWriteKeys) {
      if (expiresAt > now()) byWriteKey.set(key, { source, expiresAt })
    }
  }
  const connectionsBySource = Map.groupBy(connections.values(), ({ sourceId }) => sourceId)
  return {
    revision,
    sources,
    destinations,
    connections,
    sourceByWriteKey(writeKey) {
      const found = byWriteKey.get(writeKey)
      if (found === undefined) return undefined
      return found.expiresAt === Number.POSITIVE_INFINITY || found.expiresAt > now() ? found.source : undefined
    },
    connectionsOf: (sourceId) => connectionsBySource.get(sourceId) ?? NONE,
  }
}

const NONE: readonly Connection[] = []
