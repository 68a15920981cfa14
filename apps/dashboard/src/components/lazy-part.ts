import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { loadedPart } from '../api/loaded-part.ts'

/** A component in a file of its own, loaded when it is shown; it comes, too, if the server is away just then. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever properties
export function lazyPart<T extends ComponentType<any>>(load: () => Promise<{ default: T }>): LazyExoticComponent<T> {
  return lazy(() => loadedPart(load))
}
