import type { DestinationDefinition } from '@millrace/api-types'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'

/** `lines` is a text of several lines; `pairs` a list of `{from, to, secret}`, `renames` one of `{from, to}`; `json` is any value without a simpler control. */
export type FieldControl =
  | 'text'
  | 'lines'
  | 'secret'
  | 'select'
  | 'switch'
  | 'number'
  | 'tags'
  | 'pairs'
  | 'renames'
  | 'json'

/** One variable of a destination's configuration in the form. */
export interface ConfigField {
  /** The name of the variable, its key in `destinationConfig`. */
  readonly key: string
  readonly label: string
  readonly help: string | undefined
  readonly control: FieldControl
  readonly isRequired: boolean
  /** Options of a select. */
  readonly options: readonly string[]
  /** Default value. */
  readonly fallback: JsonValue | undefined
  /** Whether it determines where requests go. */
  readonly isHost: boolean
  /** Whether it lists further hosts that may receive secrets. */
  readonly isTrustedHosts: boolean
  readonly schema: JsonObject
}

/** The fields of a type's form: first those of `uiConfig` in its order, then the others. */
export function configFields(definition: DestinationDefinition): ConfigField[] {
  const { configSchema, uiConfig, config, defaultConfig } = definition
  const properties = isJsonObject(configSchema['properties']) ? configSchema['properties'] : {}
  const required = Array.isArray(configSchema['required']) ? configSchema['required'] : []
  const described = uiConfig.fields ?? []
  const keys = new Set([...described.map(({ key }) => key), ...defaultConfig, ...(config.extraConfig ?? [])])
  return [...keys].map((key) => {
    const schema = isJsonObject(properties[key]) ? properties[key] : {}
    const { label = labelOf(key), help } = described.find((field) => field.key === key) ?? {}
    const options = optionsOf(schema)
    return {
      key,
      label,
      // Many services repeat the label.
      help: help === label ? undefined : help,
      control: controlOf(schema, options, key, config.secretKeys),
      isRequired: required.includes(key),
      options,
      fallback: schema['default'],
      isHost: config.hostKeys?.includes(key) ?? false,
      isTrustedHosts: config.trustedHostKeys?.includes(key) ?? false,
      schema,
    }
  })
}

function controlOf(
  schema: JsonObject,
  options: readonly string[],
  key: string,
  secretKeys: readonly string[],
): FieldControl {
  if (secretKeys.includes(key)) return 'secret'
  if (options.length > 0) return 'select'
  switch (schema['type']) {
    case 'string':
      return schema['contentMediaType'] === undefined ? 'text' : 'lines'
    case 'boolean':
      return 'switch'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return listControlOf(schema) ?? 'json'
  }
}

/** For a schema with several forms, the list: only a list has a control. */
function listControlOf(schema: JsonObject): 'tags' | 'pairs' | 'renames' | undefined {
  const forms = [schema, ...(Array.isArray(schema['anyOf']) ? schema['anyOf'] : [])]
  const list = forms.find((form) => isJsonObject(form) && form['type'] === 'array') as JsonObject | undefined
  const items = list?.['items']
  if (!isJsonObject(items)) return undefined
  if (items['type'] === 'string') return 'tags'
  const members = isJsonObject(items['properties']) ? Object.keys(items['properties']) : []
  const isPair = members.includes('from') && members.includes('to')
  if (!isPair || !members.every((member) => ['from', 'to', 'secret'].includes(member))) return undefined
  return members.includes('secret') ? 'pairs' : 'renames'
}

/** The words of an enum, or of a pattern that is a case-insensitive choice of words. */
function optionsOf(schema: JsonObject): string[] {
  if (schema['type'] !== 'string') return []
  const { enum: words, pattern } = schema
  if (Array.isArray(words)) return words.filter((word) => typeof word === 'string')
  if (typeof pattern !== 'string') return []
  const choice = /^\^\(([A-Z|]+)\)\$$/.exec(pattern.replace(/\[([A-Z])[a-z]\]/g, '$1'))?.[1]
  return choice?.split('|') ?? []
}

/** `signingSecret` → `Signing secret`. */
function labelOf(key: string): string {
  const words = key.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
