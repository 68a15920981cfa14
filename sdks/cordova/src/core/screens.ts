import type { EventCall } from './call.ts'
import type { Configuration } from './configuration.ts'
import type { Host } from './host.ts'

/** Makes screens of routes, where that is wanted. @see contracts/cordova-sdk.md §11 */
export function watchScreens(
  host: Host,
  { recordScreenViews, screenNameOf }: Configuration,
  emit: (screens: readonly EventCall[]) => void,
): void {
  let last: string | undefined
  if (!recordScreenViews) return
  host.watchRoutes(({ path, title }) => {
    const name = screenNameOf ? screenNameOf(path) : path
    // null, or anything else that is no name, skips a route; the same name twice in a row counts once.
    if (typeof name !== 'string' || !name.trim() || name === last) return
    last = name
    emit([{ kind: 'screen', name, data: { name, path, title, automatic: true }, at: host.clock.now(), options: {} }])
  })
}
