import type { Connection } from '../resources/connection.ts'
import type { Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import type { PublishedTransformation } from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'

/**
 * The configuration of one revision. Immutable: a change creates a new one, so sources, destinations and connections of
 * a snapshot always fit together. Each map is ordered by creation.
 */
export interface Snapshot {
  readonly revision: number
  readonly sources: ReadonlyMap<string, Source>
  readonly destinations: ReadonlyMap<string, Destination>
  readonly connections: ReadonlyMap<string, Connection>
  readonly transformations: ReadonlyMap<string, Transformation>
  readonly libraries: ReadonlyMap<string, Library>
  /** By its write key, or by a former key in its grace period. */
  sourceByWriteKey(writeKey: string): Source | undefined
  connectionsOf(sourceId: string): readonly Connection[]
  /** A library by its import name. */
  libraryByImportName(importName: string): Library | undefined
  /** Ids of the destinations that use a transformation, ordered by creation. */
  destinationIdsOf(transformationId: string): readonly string[]
}

export type Resources = Pick<Snapshot, 'sources' | 'destinations' | 'connections' | 'transformations' | 'libraries'>

/** @param now the wall clock, which ends former write keys. */
export function buildSnapshot(revision: number, resources: Resources, now: () => number): Snapshot {
  const { sources, connections, transformations, libraries } = resources
  const destinations = resolved(resources.destinations, transformations)
  const byWriteKey = new Map<string, { source: Source; expiresAt: number }>()
  // An expired key may belong to another source meanwhile, so it is excluded.
  for (const source of sources.values()) {
    byWriteKey.set(source.writeKey, { source, expiresAt: Number.POSITIVE_INFINITY })
    for (const { key, expiresAt } of source.previousWriteKeys) {
      if (expiresAt > now()) byWriteKey.set(key, { source, expiresAt })
    }
  }
  const connectionsBySource = Map.groupBy(connections.values(), ({ sourceId }) => sourceId)
  const byImportName = new Map(Array.from(libraries.values(), (library) => [library.importName, library]))
  const destinationIds = idsByTransformation(destinations)
  return {
    revision,
    sources,
    destinations,
    connections,
    transformations,
    libraries,
    sourceByWriteKey(writeKey) {
      const found = byWriteKey.get(writeKey)
      if (found === undefined) return undefined
      return found.expiresAt === Number.POSITIVE_INFINITY || found.expiresAt > now() ? found.source : undefined
    },
    connectionsOf: (sourceId) => connectionsBySource.get(sourceId) ?? NONE,
    libraryByImportName: (importName) => byImportName.get(importName),
    destinationIdsOf: (transformationId) => destinationIds.get(transformationId) ?? NONE,
  }
}

const NONE: readonly never[] = []

/** Each destination with the code that it runs. A destination whose code did not change stays the same object. */
function resolved(
  destinations: ReadonlyMap<string, Destination>,
  transformations: ReadonlyMap<string, Transformation>,
): ReadonlyMap<string, Destination> {
  const all = new Map<string, Destination>()
  for (const [id, destination] of destinations) {
    const steps = destination.transformationIds.map((each) => publishedCode(transformations, each))
    all.set(id, areSame(steps, destination.transformations) ? destination : { ...destination, transformations: steps })
  }
  return all
}

/** An attached transformation is published and cannot be removed. */
function publishedCode(transformations: ReadonlyMap<string, Transformation>, id: string): PublishedTransformation {
  const published = transformations.get(id)?.published
  if (published === undefined || published === null)
    throw new Error(`transformation ${id} is attached, but not published`)
  return published
}

function areSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}

function idsByTransformation(destinations: ReadonlyMap<string, Destination>): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { id, transformationIds } of destinations.values()) {
    for (const each of transformationIds) {
      const known = ids.get(each)
      if (known === undefined) ids.set(each, [id])
      else known.push(id)
    }
  }
  return ids
}
