import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { ErrorObject } from 'ajv'

/** Where a config breaks its schema, as a JSON pointer, and what is allowed there. */
export interface ConfigFault {
  readonly path: string
  readonly message: string
}

/** @param errors as Ajv gives them with `allErrors` and `verbose`. */
export function faultsOf(errors: readonly ErrorObject[]): ConfigFault[] {
  // Where several forms are allowed, what is said of each form confuses more than that none of them fits.
  const choices = errors.filter(({ keyword }) => isChoice(keyword)).map(({ schemaPath }) => `${schemaPath}/`)
  const told = errors.filter(
    ({ keyword, schemaPath }) => keyword !== 'if' && !choices.some((choice) => schemaPath.startsWith(choice)),
  )
  const faults = new Map(told.map(faultOf).map((fault) => [`${fault.path} ${fault.message}`, fault]))
  return [...faults.values()]
}

function isChoice(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function faultOf({ instancePath: path, keyword, params, schema, parentSchema, message }: ErrorObject): ConfigFault {
  switch (keyword) {
    case 'required':
      return { path: `${path}/${params['missingProperty']}`, message: 'is required' }
    case 'anyOf':
    case 'oneOf':
      return { path, message: choiceInWords(schema as JsonObject[]) }
    case 'enum':
      return { path, message: `must be ${enumInWords(schema as string[], parentSchema as JsonObject)}` }
    case 'pattern':
      return { path, message: `must be ${patternInWords(schema as string, parentSchema as JsonObject)}` }
    case 'type':
      return { path, message: `must be of type ${[params['type']].flat().join(' or ')}` }
    case 'minLength':
      return {
        path,
        message: params['limit'] === 1 ? 'must not be empty' : `must have at least ${params['limit']} characters`,
      }
    case 'minItems':
      return {
        path,
        message: params['limit'] === 1 ? 'must not be empty' : `must have at least ${params['limit']} entries`,
      }
    default:
      return { path, message: message ?? 'is not allowed' }
  }
}

function enumInWords(words: readonly string[], { description }: JsonObject): string {
  return typeof description === 'string' ? description : `one of ${words.join(', ')}`
}

function choiceInWords(forms: readonly JsonObject[]): string {
  const needed = forms.map(({ required }) => (Array.isArray(required) ? required.join(' and ') : undefined))
  if (needed.every((names) => names !== undefined) && forms.every(({ type }) => type === undefined)) {
    return `must have exactly one of ${needed.join(', ')}`
  }
  return `must be ${forms.map((form) => inWords(form, 'one')).join(' or ')}`
}

function inWords(form: JsonObject, number: 'one' | 'many'): string {
  const { type, description, items, required, additionalProperties } = form
  if (typeof description === 'string') return description
  if (type === 'array') return isJsonObject(items) ? `a list of ${inWords(items, 'many')}` : 'a list'
  if (type !== 'object') return number === 'one' ? `of type ${type}` : `${type}s`
  const object = number === 'one' ? 'an object' : 'objects'
  if (Array.isArray(required)) return `${object} with ${required.join(' and ')}`
  return isJsonObject(additionalProperties) ? `${object} of ${inWords(additionalProperties, 'many')}` : object
}

/** A pattern is for machines: the schema says beside it what it means, unless it is a choice of words in any letter case. */
function patternInWords(pattern: string, { description }: JsonObject): string {
  if (typeof description === 'string') return description
  const words = pattern.replace(/\[([A-Z])[a-z]\]/g, '$1')
  const choice = /^\^\(([A-Z|]+)\)\$$/.exec(words)?.[1]
  return choice === undefined ? `like ${pattern}` : `one of ${choice.replaceAll('|', ', ')}`
}
