import { randomUUID } from 'node:crypto'

/** The id that joins an answer with logs and reports: the client's own when it is well formed, else a new UUIDv4. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
}
