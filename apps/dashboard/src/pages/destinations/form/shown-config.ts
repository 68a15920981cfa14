import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import { MASK } from '../../../api/destinations.ts'
import type { ConfigField } from '../../../components/form/config-field.ts'

/** The configuration as it may stand in a command: typed secrets are masks there, too. */
export function shownConfig(fields: readonly ConfigField[], config: JsonObject): JsonObject {
  const shown = Object.entries(config).map(([key, value]): [string, JsonValue] => {
    const control = fields.find((field) => field.key === key)?.control
    if (control === 'secret') return [key, MASK]
    return [key, control === 'pairs' && Array.isArray(value) ? value.map(shownPair) : value]
  })
  return Object.fromEntries(shown)
}

/** Which values are secret by their names is for the server to know; one that says it is none is shown. */
function shownPair(pair: JsonValue): JsonValue {
  return isJsonObject(pair) && pair['secret'] !== false ? { ...pair, to: MASK } : pair
}
