import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The id that joins an answer with logs and reports: the client's own when it is well formed, else a new UUIDv4. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID()
}

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/
