import type { EventType } from '@millrace/protocol/event'
import type { JsonObject } from '@millrace/protocol/json'
import { connectionFailure, failureOf } from './requests/failure.ts'

const MAX_MS = 10_000

/**
 * Sends one event as an app would: with the source's write key. Ingest routes do not use the session, so it is not
 * sent.
 *
 * @throws ApiError
 * @see contracts/ingest.md §1
 */
export async function sendEvent(writeKey: string, type: EventType, event: JsonObject): Promise<void> {
  const response = await window
    .fetch(`/v1/${type}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${writeKey}:`)}`, 'Content-Type': 'application/json' },
      credentials: 'omit',
      signal: AbortSignal.timeout(MAX_MS),
      body: JSON.stringify(event),
    })
    .catch(() => {
      throw connectionFailure()
    })
  if (!response.ok) throw failureOf(response.status, response.headers, await response.text().catch(() => ''))
}
