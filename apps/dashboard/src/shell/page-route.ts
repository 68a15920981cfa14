import type { QueryClient } from '@tanstack/react-query'
import type { Readers } from './search-values.ts'

/** A page, as its folder tells the router of it. */
export type PageRoute = LoadedPage | Redirect

export interface LoadedPage {
  /** Below /ui, with parameters as `$id`. */
  readonly path: string
  /** Of the browser's tab and of the path on top. */
  readonly title: string
  /** The module, loaded when somebody comes here. */
  // biome-ignore lint/suspicious/noExplicitAny: a module of whatever else it exports
  readonly load: () => Promise<any>
  /** The name of its component, which takes no properties. */
  readonly component: string
  /** What it reads of the link, by name; anything else in it is told to be left out. */
  readonly search?: Readers
  /** Asks for what it shows: on a first visit before the page itself is made, so that both go on at the same time. */
  readonly ask?: (client: QueryClient) => void
  /** Shown without the shell and without a session. */
  readonly isOpen?: boolean
}

interface Redirect {
  readonly path: string
  /** A path with the same parameters. */
  readonly redirectTo: string
}
