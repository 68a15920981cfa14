import type { JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'

/**
 * Events for one pixel as one list. An answer judges the whole list: the lane halves a refused one until the event at fault is
 * alone, and Snapchat counts an event with the same `event_id` once.
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  limits: () => ({ maxEvents: 1_000, maxBytes: 1_000_000 }),
  key: ({ endpoint, params }) => JSON.stringify([endpoint, params]),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const data = requests.flatMap(({ body }) => body.JSON['data'] as JsonValue[])
    return { ...first!, body: { ...first!.body, JSON: { data } } }
  },
}
