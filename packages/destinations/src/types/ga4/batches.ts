import type { JsonObject } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import type { RequestObject } from '../../requests/request-object.ts'

const MAX_EVENTS = 25
/** The documented limit of a body is 130 kB. */
const MAX_BYTES = 120_000

/**
 * Events of one client in one request, each with its own time. GA4 answers 2xx to anything, so one answer covers all of them.
 *
 * @see docs/destinations/ga4.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: true,
  limits: ({ debug }) => (debug === true ? undefined : { maxEvents: MAX_EVENTS, maxBytes: MAX_BYTES }),
  key({ endpoint, params, body: { JSON: payload } }) {
    const { events: _events, timestamp_micros: _time, ...sender } = payload
    return JSON.stringify([endpoint, params, sender])
  },
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const { timestamp_micros: _, ...shared } = first!.body.JSON
    return { ...first!, body: { ...first!.body, JSON: { ...shared, events: requests.flatMap(timedEvents) } } }
  },
}

/** The time of a request is that of all its events unless an event names its own. */
function timedEvents({ body }: RequestObject): JsonObject[] {
  const { events, timestamp_micros } = body.JSON as { events: JsonObject[]; timestamp_micros?: number }
  if (timestamp_micros === undefined) return events
  return events.map((event) => ({ ...event, timestamp_micros }))
}
