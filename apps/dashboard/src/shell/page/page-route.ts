import type { QueryClient } from '@tanstack/react-query'
import type { Readers } from '../search-values.ts'

/** A page, as its folder describes it for the router. */
export type PageRoute = LoadedPage | Redirect

export interface LoadedPage {
  /** Path below /ui, with parameters such as `$id`. */
  readonly path: string
  /** Title of the browser's tab and of the breadcrumb. */
  readonly title: string
  /** The module, loaded on the first visit. */
  // biome-ignore lint/suspicious/noExplicitAny: a module of whatever else it exports
  readonly load: () => Promise<any>
  /** The name of its component, which has no props. */
  readonly component: string
  /** Search values that it reads, by name; others in a link are reported as ignored. */
  readonly search?: Readers
  /** Requests its data: on a first visit while the page's files load. */
  readonly ask?: (client: QueryClient) => void
  /** Shown without the shell and without a session. */
  readonly isOpen?: boolean
}

interface Redirect {
  readonly path: string
  /** A path with the same parameters. */
  readonly redirectTo: string
}
