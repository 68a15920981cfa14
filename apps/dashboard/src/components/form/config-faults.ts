import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import { MASK } from '../../api/destinations.ts'
import type { ConfigField } from './config-field.ts'

/**
 * Errors that the browser can detect before the server does: required, type, enum and pattern, with the server's texts.
 *
 * @param unread errors by key of the fields whose text is not JSON; `config` has their last valid value.
 * @returns a text by the key of its field; empty without errors.
 * @see contracts/dashboard.md §9 [U14]
 */
export function configFaults(
  fields: readonly ConfigField[],
  config: JsonObject,
  unread: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const faults = fields.flatMap((field) => {
    const fault = unread[field.key] ?? faultOf(field, config[field.key])
    return fault === undefined ? [] : [[field.key, fault] as const]
  })
  return Object.fromEntries(faults)
}

function faultOf({ isRequired, control, options, schema }: ConfigField, value: JsonValue | undefined) {
  if (isMissing(value)) return isRequired ? 'is required' : undefined
  // The saved secret was checked when it was saved.
  if (value === MASK) return undefined
  switch (control) {
    case 'text':
    case 'lines':
    case 'secret':
      return typeof value === 'string' ? textFault(value, schema) : 'must be of type string'
    case 'select':
      return isOption(options, value) ? undefined : `must be one of ${options.join(', ')}`
    case 'number':
      return typeof value === 'number' && (schema['type'] !== 'integer' || Number.isInteger(value))
        ? undefined
        : `must be of type ${schema['type']}`
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'must be of type boolean'
    case 'tags':
      return isListOf(value, (each) => typeof each === 'string') ? undefined : 'must be a list of strings'
    case 'pairs':
      return isListOf(value, isPair) || isJsonObject(value) ? undefined : 'must be a list of objects with from and to'
    case 'json':
      return undefined
  }
}

function textFault(text: string, { minLength, pattern, description }: JsonObject): string | undefined {
  if (typeof minLength === 'number' && text.length < minLength) {
    return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`
  }
  if (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text)) return undefined
  return `must be ${typeof description === 'string' ? description : `like ${pattern}`}`
}

function isMissing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

function isOption(options: readonly string[], value: JsonValue | undefined): boolean {
  return typeof value === 'string' && (options.includes(value) || options.includes(value.toUpperCase()))
}

function isListOf(value: JsonValue | undefined, is: (each: JsonValue) => boolean): boolean {
  return Array.isArray(value) && value.every(is)
}

function isPair(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value['from'] === 'string' && typeof value['to'] === 'string'
}
