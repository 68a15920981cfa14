import type { Route } from '../core/host.ts'

/**
 * Calls back with each route that the app changes to, and with the one there is now. The wrapped history functions behave
 * as before: what they answer and throw is the original's, and nothing of ours reaches the app.
 *
 * @see contracts/cordova-sdk.md §11
 */
export function watchRoutes(onRoute: (route: Route) => void): void {
  // One turn later, because apps set the title after the route.
  const changed = () => void setTimeout(() => onRoute({ path: pathOf(location), title: document.title }))
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = function (this: History, ...given: Parameters<History['pushState']>) {
      const result = original.apply(this, given)
      changed()
      return result
    }
  }
  addEventListener('popstate', changed)
  addEventListener('hashchange', changed)
  changed()
}

/** The hash route when there is one, else the pathname; without query and further fragment. */
export function pathOf({ hash, pathname }: Pick<Location, 'hash' | 'pathname'>): string {
  const isRoute = hash.startsWith('#/') || hash.startsWith('#!/')
  const path = isRoute ? hash.slice(hash.indexOf('/')) : pathname
  return path.split(/[?#]/)[0]!
}
