import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/

/** The id that joins an answer with logs and reports: the client's own when it is well formed, else a new UUIDv4. */
export function requestId({ headers }: { readonly headers: IncomingHttpHeaders }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID()
}
