import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { userTraits } from '../../event/event-facts.ts'
import { isReservedUserProperty } from './reserved-names.ts'
import { snakeCase } from './snake-case.ts'

/** Google drops what is beyond these limits, so it is not sent. A text is never cut: half an id is another id. */
const MAX_PROPERTIES = 25
const MAX_NAME_LENGTH = 24
const MAX_VALUE_LENGTH = 36

/** The traits that the configuration selects, as Google takes them. */
export function userProperties(event: StoredEvent, config: JsonObject): { user_properties?: JsonObject } {
  const traits = selectedTraits(userTraits(event), config)
  const properties: JsonObject = {}
  for (const [trait, value] of traits) {
    const name = snakeCase(trait)
    const text = plainValue(value)
    const fits = name !== '' && name.length <= MAX_NAME_LENGTH && !isReservedUserProperty(name)
    if (!fits || text === undefined || Object.hasOwn(properties, name)) continue
    properties[name] = { value: text }
    if (Object.keys(properties).length === MAX_PROPERTIES) break
  }
  return Object.keys(properties).length === 0 ? {} : { user_properties: properties }
}

function selectedTraits(traits: JsonObject, { userProperties, userPropertyNames }: JsonObject): [string, JsonValue][] {
  switch (userProperties) {
    case undefined:
    case null:
    case '':
    case 'none':
      return []
    case 'all':
      return Object.entries(traits)
    case 'listed': {
      const names = Array.isArray(userPropertyNames) ? userPropertyNames : []
      return names.flatMap((name) =>
        typeof name === 'string' && Object.hasOwn(traits, name) ? [[name, traits[name]!]] : [],
      )
    }
    default:
      throw new Error(`Unsupported userProperties ${String(userProperties)}`)
  }
}

function plainValue(value: JsonValue): string | number | undefined {
  if (typeof value === 'number') return value
  const text = typeof value === 'boolean' ? String(value) : value
  return typeof text === 'string' && text !== '' && text.length <= MAX_VALUE_LENGTH ? text : undefined
}
