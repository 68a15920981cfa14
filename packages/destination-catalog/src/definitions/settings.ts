import type { JsonObject } from '@millrace/protocol'
import type { Entry } from './entry.ts'

/** The settings that the destination's code gets: its own fields, with their defaults where they are absent. */
export function settingsOf({ fields }: Entry, config: JsonObject): JsonObject {
  const settings: JsonObject = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = config[name] ?? field.default
    if (value !== undefined && value !== null) settings[name] = value
  }
  return settings
}
