import type { ServerResponse } from 'node:http'

/** Aborted when the caller goes away before it is answered. */
export function untilGone(response: Pick<ServerResponse, 'once'>): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}
