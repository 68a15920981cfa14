import type { EventCall } from './calls/call.ts'
import type { Host } from './host.ts'
import type { Configuration } from './source/configuration.ts'

/** Makes screens of routes, where that is wanted. @see contracts/cordova-sdk.md §11 */
export function watchScreens(
  host: Host,
  { recordScreenViews, screenNameOf }: Configuration,
  emit: (screens: readonly EventCall[]) => void,
  onFault: (error: unknown) => void,
): void {
  let last: string | undefined
  if (!recordScreenViews) return
  host.watchRoutes(({ path, title }) => {
    let name: unknown = path
    try {
      if (screenNameOf) name = screenNameOf(path)
    } catch (error) {
      // It is the app's; the route is not recorded.
      return onFault(error)
    }
    // null, or anything else that is no name, skips a route; the same name twice in a row counts once.
    if (typeof name !== 'string' || !name.trim() || name === last) return
    last = name
    emit([
      { kind: 'screen', name, payload: { name, path, title, automatic: true }, at: host.clock.now(), callOptions: {} },
    ])
  })
}
