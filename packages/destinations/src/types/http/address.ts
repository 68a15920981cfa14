import type { JsonObject } from '@millrace/protocol'
import { replacePlaceholders } from '../../messages/template.ts'

/** Scheme, user and host, which are the operator's alone; then what may hold placeholders. */
const ADDRESS = /^(https?:\/\/[^/?#\\{}\s]+)([/?#].*)?$/is
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

/**
 * The address with its placeholders filled, percent-encoded. Nothing that an event says changes its host or its folders.
 *
 * @throws Error if the event lacks one of the values.
 */
export function filledAddress(url: unknown, values: JsonObject): string {
  const [, origin, rest = ''] = (typeof url === 'string' && ADDRESS.exec(url)) || []
  if (origin === undefined) throw new Error('url must be an http or https address without placeholders in its host')
  const empty: string[] = []
  const { text, missing } = replacePlaceholders(rest, values, (value, path) => {
    if (value === '') empty.push(path)
    return encodeURIComponent(value.toWellFormed())
  })
  const [lacking] = [...missing, ...empty]
  // Without its value the address would be another one: that of a whole collection, say.
  if (lacking !== undefined) throw new Error(`the event has no ${lacking}, which url needs`)
  const [path = ''] = text.split(/[?#]/, 1)
  if (text !== rest && path.split(/[\\/]/).some((segment) => DOT_SEGMENT.test(segment))) {
    throw new Error('url would lead to another folder')
  }
  return origin + text
}
