import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { CommandIo } from '../command-io.ts'

/** How a secret looks to whoever reads it. */
export const MASK = '********'

/** `${NAME}` stands for a variable; `$${NAME}` is the text `${NAME}`, and so on with each further `$`. */
const PLACEHOLDER = /(\$+)\{([A-Za-z_]\w*)\}/g

type Environment = CommandIo['env']

export interface MissingVariable {
  readonly name: string
  /** JSON pointer of the text that names it. */
  readonly path: string
}

/**
 * A document with the values of the environment in place of `${NAME}`, in every text of it. An empty variable counts as
 * missing: it is how a CI shows a secret that nobody has set, and must not empty the one on the server.
 *
 * @param otherwise stands in for what is missing.
 * @see contracts/control-plane.md §9 [D718]
 */
export function filled(
  document: JsonObject,
  env: Environment,
  otherwise = '',
): { document: JsonObject; missing: MissingVariable[] } {
  const missing: MissingVariable[] = []
  const fill = (text: string, path: string) =>
    text.replace(PLACEHOLDER, (whole: string, dollars: string, name: string) => {
      if (dollars.length > 1) return whole.slice(1)
      if (isSet(env[name])) return env[name]!
      missing.push({ name, path })
      return otherwise
    })
  return { document: mapTexts(document, fill, '') as JsonObject, missing }
}

/** A value of the server as it is written into a file: what looks like a placeholder there is none. */
export function escaped<T extends JsonValue>(value: T): T {
  return mapTexts(value, (text) => text.replace(PLACEHOLDER, (whole) => `$${whole}`), '') as T
}

/**
 * Whether a text of the file, with its placeholders, may stay where the server has a value. A placeholder may stand for
 * its variable or for a secret that is masked and, where its variable is not set, for anything.
 */
export function standsFor(text: string, value: string, env: Environment): boolean {
  let pattern = ''
  let end = 0
  for (const { 0: whole, 1: dollars, 2: name, index } of text.matchAll(PLACEHOLDER)) {
    pattern += RegExp.escape(text.slice(end, index))
    if (dollars!.length > 1) pattern += RegExp.escape(whole.slice(1))
    else pattern += isSet(env[name!]) ? `(?:${RegExp.escape(env[name!]!)}|${RegExp.escape(MASK)})` : '[^]*'
    end = index + whole.length
  }
  // The server masks a secret as a whole, also where only a part of it is a variable: `Bearer ${TOKEN}`.
  const isMaskedSecret = value === MASK && hasPlaceholder(text)
  return isMaskedSecret || new RegExp(`^${pattern}${RegExp.escape(text.slice(end))}$`).test(value)
}

function hasPlaceholder(text: string): boolean {
  return [...text.matchAll(PLACEHOLDER)].some(([, dollars]) => dollars!.length === 1)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

function mapTexts(value: JsonValue, map: (text: string, path: string) => string, path: string): JsonValue {
  if (typeof value === 'string') return map(value, path)
  if (Array.isArray(value)) return value.map((item, i) => mapTexts(item, map, `${path}/${i}`))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, mapTexts(item, map, memberPath(path, name))]),
  )
}

function memberPath(path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
