import { badRequest, type Query, text } from '@millrace/openapi'
import { parseTime } from '@millrace/protocol'

/** Reads a time of the query, ms since 1970. @throws ApiError 400 */
export function time(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  const parsed = parseTime(value)
  if (parsed === undefined) throw badRequest(`Invalid time in ${name}`)
  return parsed
}
