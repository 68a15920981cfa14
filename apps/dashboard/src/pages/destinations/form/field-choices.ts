import type { DestinationDefinition, FieldOptions } from '@millrace/api-types'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import { mappingsIn } from './prepared-mappings.ts'

/** A field of a configured mapping whose choices the service lists. */
export interface ChoiceField {
  /** Position of the mapping. */
  readonly at: number
  readonly action: string
  readonly name: string
  readonly label: string
  /** Choices are names of its members. */
  readonly isKeys: boolean
  readonly value: JsonValue | undefined
  /** Literal values of the mapping, of which choices may depend. */
  readonly values: JsonObject
}

/** The fields with choices of all configured mappings, in their order. */
export function choiceFields({ uiConfig }: DestinationDefinition, config: JsonObject): ChoiceField[] {
  return mappingsIn(config).flatMap((written, at) => {
    if (!isJsonObject(written)) return []
    const { action: name, name: own, mapping } = written
    const action = uiConfig.actions?.[String(name)]
    if (action === undefined) return []
    const values = literals(isJsonObject(mapping) ? mapping : {})
    return Object.entries(action.fields).flatMap(([field, { label, dynamic }]): ChoiceField[] => {
      if (dynamic === undefined) return []
      const of = typeof own === 'string' ? own : action.title
      const value = isJsonObject(mapping) ? mapping[field] : undefined
      return [
        {
          at,
          action: String(name),
          name: field,
          label: `${String(label)} of ${of}`,
          isKeys: dynamic === 'keys',
          value,
          values,
        },
      ]
    })
  })
}

/** The configuration with a chosen value, or with one more member of the field. */
export function withChoice(config: JsonObject, { at, name, isKeys }: ChoiceField, chosen: string): JsonObject {
  const subscriptions = mappingsIn(config).map((written, position) => {
    if (position !== at || !isJsonObject(written)) return written
    const mapping = isJsonObject(written['mapping']) ? written['mapping'] : {}
    const members = isJsonObject(mapping[name]) && !isDirective(mapping[name]) ? mapping[name] : {}
    const value = isKeys ? { ...members, [chosen]: members[chosen] ?? '' } : chosen
    return { ...written, mapping: { ...mapping, [name]: value } }
  })
  return { ...config, subscriptions }
}

/** What a select shows as chosen: ids of some services are numbers. Null: none is set, or a directive. */
export function chosenText(value: JsonValue | undefined): string | null {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : null
}

/** What a select offers: each value once, the one that is set among them. */
export function offeredChoices(listed: FieldOptions['choices'], value: JsonValue | undefined) {
  const offered = new Map<string, string>()
  const chosen = chosenText(value)
  if (chosen !== null) offered.set(chosen, chosen)
  for (const choice of listed) if (choice.value !== '') offered.set(choice.value, choice.label)
  return [...offered].map(([value, label]) => ({ value, label: label === '' ? value : label }))
}

export function isDirective(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).some((name) => name.startsWith('@'))
}

function literals(mapping: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(mapping).filter(([, value]) => !isDirective(value)))
}
