import { isDeepStrictEqual } from 'node:util'
import type { StoredState } from '../store/control-store.ts'
import type { Resources, Snapshot } from './snapshot.ts'

const KINDS = ['sources', 'destinations', 'connections', 'transformations', 'libraries'] as const

/**
 * The resources of a stored state; those that equal a known one are the known object, so that what other parts derived
 * from it stays valid.
 */
export function sharedResources(stored: StoredState, known: Snapshot | undefined): Resources {
  return {
    sources: shared(stored.sources, known?.sources),
    destinations: shared(stored.destinations, known?.destinations, (each) => ({ ...each, transformations: [] })),
    connections: shared(stored.connections, known?.connections),
    transformations: shared(stored.transformations, known?.transformations),
    libraries: shared(stored.libraries, known?.libraries),
  }
}

/** Whether both hold the same objects in the same order. */
export function areSame(a: Resources, b: Resources): boolean {
  return KINDS.every((kind) => {
    const [some, others] = [[...a[kind].values()], [...b[kind].values()]]
    return some.length === others.length && some.every((each, at) => each === others[at])
  })
}

/** @param asStored the members of a known resource that the store keeps. */
function shared<T extends { readonly id: string }>(
  stored: readonly T[],
  known: ReadonlyMap<string, T> | undefined,
  asStored = (each: T) => each,
): Map<string, T> {
  return new Map(
    stored.map((item) => {
      const same = known?.get(item.id)
      return [item.id, same !== undefined && isDeepStrictEqual(asStored(same), item) ? same : item]
    }),
  )
}
