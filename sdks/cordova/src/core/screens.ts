import type { Route } from './host.ts'
import type { JsonObject } from './plain-json.ts'

/** null, or anything else that is no name, skips a route; the same name twice in a row counts once. */
export function isScreenWanted(name: unknown, last: string | undefined): name is string {
  return typeof name === 'string' && name.trim() !== '' && name !== last
}

/** @see contracts/cordova-sdk.md §11 */
export function screenProperties(name: string, { path, title }: Route): JsonObject {
  return { name, path, title, automatic: true }
}
