import { type Method, pathWith, type QueryValues } from '../api/client.ts'

/** A request of this dashboard, as somebody makes it with a token of their own. */
export interface ShownRequest {
  readonly method?: Method
  readonly path: string
  readonly query?: QueryValues
  readonly body?: object
  /** How many rows a list has: all of them are asked for. Not for lists that go by a cursor. */
  readonly rows?: number | undefined
}

/** What a list gives when nothing is said, and at most. @see contracts/control-plane.md §4 "list" */
const USUAL_ROWS = 100
export const MAX_ROWS = 500

/** @see contracts/dashboard.md §12 [U17] */
export function curlText(origin: string, request: ShownRequest): string {
  const { method = 'GET', body } = request
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellQuoted(origin + addressOf(request))]
  // In double quotes: the shell puts the token in.
  const lines = [parts.join(' '), '-H "Authorization: Bearer $MILLRACE_TOKEN"']
  if (body !== undefined) lines.push(`-d ${shellQuoted(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

function addressOf({ path, query = {}, rows = 0 }: ShownRequest): string {
  const address = pathWith(path, rows > USUAL_ROWS ? { ...query, limit: MAX_ROWS } : query)
  // curl puts the numbers in by itself, and asks for one page after the other.
  return rows > MAX_ROWS ? `${address}&page=[1-${Math.ceil(rows / MAX_ROWS)}]` : address
}

/** One word for a POSIX shell, whatever the text holds. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
