import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../following/configuration.ts'

/** The part of a configuration that a shard needs, as plain values that can cross to another thread. */
export function plainConfiguration({ revision, sources, destinations, connections }: Configuration): Configuration {
  return {
    revision,
    sources: new Map(sources),
    destinations: new Map(destinations),
    connections: new Map(connections),
  }
}

/**
 * A configuration that crossed, with the objects of the one before where nothing changed: what did not change stays the same
 * object, as on the main thread.
 */
export function withKnownObjects(before: Configuration, after: Configuration): Configuration {
  return {
    revision: after.revision,
    sources: known(before.sources, after.sources),
    destinations: known(before.destinations, after.destinations),
    connections: known(before.connections, after.connections),
  }
}

function known<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const objects = new Map<string, T>()
  for (const [id, value] of after) {
    const earlier = before.get(id)
    objects.set(id, earlier !== undefined && isDeepStrictEqual(earlier, value) ? earlier : value)
  }
  return objects
}
