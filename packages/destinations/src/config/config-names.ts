import type { JsonValue } from '@millrace/protocol'

/** The names that a configured list holds; what is no list, as an override of the Test API may give, holds none. */
export function configNames(list: JsonValue | undefined): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []
}
