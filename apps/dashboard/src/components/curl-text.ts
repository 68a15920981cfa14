import { type Method, pathWith, type QueryValues } from '../api/client.ts'

/** A request of this dashboard, as somebody makes it with a token of their own. */
export interface ShownRequest {
  readonly method?: Method
  readonly path: string
  readonly query?: QueryValues
  readonly body?: object
}

/** @see contracts/dashboard.md §12 [U17] */
export function curlText(origin: string, { method = 'GET', path, query = {}, body }: ShownRequest): string {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellQuoted(origin + pathWith(path, query))]
  // In double quotes: the shell puts the token in.
  const lines = [parts.join(' '), '-H "Authorization: Bearer $MILLRACE_TOKEN"']
  if (body !== undefined) lines.push(`-d ${shellQuoted(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

/** One word for a POSIX shell, whatever the text holds. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
