import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { loadedPart } from '../api/requests/loaded-part.ts'

/** A component in its own file, loaded when it is shown; retries if the server is away. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever properties
export function lazyPart<T extends ComponentType<any>>(load: () => Promise<{ default: T }>): LazyExoticComponent<T> {
  return lazy(() => loadedPart(load))
}
