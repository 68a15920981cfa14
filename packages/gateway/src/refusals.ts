/** Reasons to refuse a request; each has one status and one text. The keys are the `reason` label of the metrics. */
export const REFUSALS = {
  unreadable_body: { status: 400, text: 'Failed to read body from request' },
  empty_body: { status: 400, text: 'Request body is nil' },
  invalid_json: { status: 400, text: 'Invalid JSON' },
  nesting: { status: 400, text: 'Event nesting exceeds 200 levels' },
  empty_batch: { status: 400, text: 'Empty batch payload' },
  invalid_event: { status: 400, text: 'Batch element is not a valid event' },
  no_ids: { status: 400, text: 'Request neither has anonymousId nor userId' },
  no_write_key: { status: 401, text: 'Failed to read writeKey from header' },
  no_query_write_key: { status: 401, text: 'Failed to read writeKey from Query Params' },
  unknown_write_key: { status: 401, text: 'Invalid Write Key' },
  webhook_signature: { status: 401, text: 'Invalid webhook signature' },
  source_route: { status: 404, text: 'Source does not take this route' },
  source_disabled: { status: 404, text: 'Source is disabled' },
  method: { status: 405, text: 'Method Not Allowed' },
  timeout: { status: 408, text: 'Request timeout' },
  body_size: { status: 413, text: 'Request size exceeds max limit' },
  event_size: { status: 413, text: 'Event size exceeds max limit' },
  batch_size: { status: 413, text: 'Batch has too many events' },
  encoding: { status: 415, text: 'Unsupported content encoding' },
  rate_limit: { status: 429, text: 'Max Requests Limit reached' },
  unavailable: { status: 503, text: 'Service unavailable' },
  address_share: { status: 503, text: 'Service unavailable' },
} as const satisfies Record<string, { status: number; text: string }>

export type RefusalReason = keyof typeof REFUSALS

/**
 * A refused request; its reason determines the answer.
 *
 * @see contracts/ingest.md §6
 */
export class Refusal {
  readonly reason: RefusalReason
  /** Index of the batch element that caused it, from 0. */
  readonly eventIndex: number | undefined
  /** Further headers, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(reason: RefusalReason, more: Partial<Pick<Refusal, 'eventIndex' | 'headers'>> = {}) {
    this.reason = reason
    this.eventIndex = more.eventIndex
    this.headers = more.headers
  }
}
