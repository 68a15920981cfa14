import type { JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'

/** Events of a request. */
const MAX_EVENTS = 2_000
/** Google gives no limit of bytes for this method; a body of ours is at most 4 MB. */
const MAX_BYTES = 3_500_000

/**
 * Conversions of the same actions. The service takes a request as a whole, or refuses it as a whole.
 *
 * @see docs/destinations/google-ads.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: true,
  limits: () => ({ maxEvents: MAX_EVENTS, maxBytes: MAX_BYTES }),
  key: ({ body }) => JSON.stringify(body.JSON['destinations']),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const events = requests.flatMap(({ body }) => body.JSON['events'] as JsonValue[])
    return { ...first!, body: { ...first!.body, JSON: { ...first!.body.JSON, events } } }
  },
}
