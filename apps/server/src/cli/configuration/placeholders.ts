import { isJsonObject, type JsonObject, type JsonValue, memberPath } from '@millrace/protocol'
import type { CommandIo } from '../command-io.ts'

/** The mask of a secret. */
export const MASK = '********'

/** `${NAME}` stands for a variable; `$${NAME}` is the text `${NAME}`; each further `$` escapes one level more. */
const PLACEHOLDER = /(\$+)\{([A-Za-z_]\w*)\}/g

type Environment = CommandIo['env']

export interface MissingVariable {
  readonly name: string
  /** JSON pointer of the text with the placeholder. */
  readonly path: string
}

/**
 * Replaces `${NAME}` in every text of a document with the value of the environment. An empty variable counts as
 * missing: a CI passes an unset secret as an empty text, which must not erase the secret on the server.
 *
 * @param otherwise the value for a missing variable.
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

/** Escapes a server's value for a file, if it looks like a placeholder. */
export function escaped<T extends JsonValue>(value: T): T {
  return mapTexts(value, (text) => text.replace(PLACEHOLDER, (whole) => `$${whole}`), '') as T
}

/**
 * Whether a text with placeholders may stay in the file for a value of the server. A placeholder matches its variable
 * or a masked secret; if its variable is not set, it matches any text.
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
  // The server masks a whole secret, even if only a part of it is a variable: `Bearer ${TOKEN}`.
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
