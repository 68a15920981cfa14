import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject, JsonValue } from '@millrace/protocol/json'

/** A mapping that can be added to a configuration. */
export interface PreparedMapping {
  readonly name: string
  /** Which events it takes; null: the user must say. */
  readonly trigger: string | null
  readonly written: JsonObject
}

/** The presets of a catalog type, then its actions with their default values. */
export function preparedMappings({ uiConfig }: DestinationDefinition): PreparedMapping[] {
  const { presets = [], actions = {} } = uiConfig
  return [
    ...presets.map(({ name, action, trigger }) => ({ name, trigger, written: { action, preset: name } })),
    ...Object.entries(actions).map(([action, { title, trigger }]) => {
      const written = { action, ...(trigger === null ? { trigger: 'type = "track"' } : {}), base: 'default' }
      return { name: title, trigger, written }
    }),
  ]
}

/** The mappings that apply while a configuration has none. */
export function defaultMappings(definition: DestinationDefinition): PreparedMapping[] {
  const prepared = preparedMappings(definition)
  const presets = prepared.filter(({ written }) => written['preset'] !== undefined)
  return presets.length > 0 ? presets : prepared.filter(({ trigger }) => trigger !== null)
}

/** The configuration with one more mapping. The first one takes the place of the default mappings. */
export function withMapping(config: JsonObject, written: JsonObject): JsonObject {
  return { ...config, subscriptions: [...mappingsIn(config), written] }
}

export function mappingsIn(config: JsonObject): JsonValue[] {
  const { subscriptions } = config
  return Array.isArray(subscriptions) ? subscriptions : []
}
