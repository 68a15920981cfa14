import { shellQuoted } from '@millrace/wording'
import { type Method, pathWith, type QueryValues } from '../api/requests/client.ts'

/** A request of this dashboard, for a user with a token. */
export interface ShownRequest {
  readonly method?: Method
  readonly path: string
  readonly query?: QueryValues
  readonly body?: object
  /** Number of rows of the list, to request all pages. Not for lists with a cursor. */
  readonly rows?: number | undefined
}

/** Default and maximum page size of a list. @see contracts/control-plane.md §4 "list" */
const USUAL_ROWS = 100
export const MAX_ROWS = 500

/** @see contracts/dashboard.md §12 [U17] */
export function curlText(origin: string, request: ShownRequest): string {
  const { method = 'GET', body } = request
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellQuoted(origin + addressOf(request))]
  // Double quotes: the shell inserts the token.
  const lines = [parts.join(' '), '-H "Authorization: Bearer $MILLRACE_TOKEN"']
  if (body !== undefined) lines.push(`-d ${shellQuoted(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

function addressOf({ path, query = {}, rows = 0 }: ShownRequest): string {
  const address = pathWith(path, rows > USUAL_ROWS ? { ...query, limit: MAX_ROWS } : query)
  // curl expands the range and requests one page after the other.
  return rows > MAX_ROWS ? `${address}&page=[1-${Math.ceil(rows / MAX_ROWS)}]` : address
}
