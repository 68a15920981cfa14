import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { RequestBatches } from '../../definition.ts'
import { refusedRequests } from '../../requests/refused-requests.ts'
import type { RequestObject } from '../../requests/request-object.ts'

/*
 * Klaviyo's jobs, which carry many profiles, or the events of many profiles.
 *
 * @see https://developers.klaviyo.com/en/reference/bulk_create_events
 */

export const EVENT = '/api/events'
export const EVENT_JOB = '/api/event-bulk-create-jobs'
export const PROFILE_JOB = '/api/profile-bulk-import-jobs'

const MAX_EVENTS = 1_000

export function eventJob(entries: JsonObject[]): JsonObject {
  return { data: { type: 'event-bulk-create-job', attributes: { 'events-bulk-create': { data: entries } } } }
}

export function profileJob(profiles: JsonObject[]): JsonObject {
  return { data: { type: 'profile-bulk-import-job', attributes: { profiles: { data: profiles } } } }
}

/** One entry of a job: a profile and its events. */
export function eventEntry(profile: JsonObject, events: readonly JsonObject[]): JsonObject {
  const data = events.map((attributes) => ({ type: 'event', attributes }))
  return { type: 'event-bulk-create', attributes: { profile: { data: profile }, events: { data } } }
}

/**
 * Single events become one job. Klaviyo takes the whole job, or names the entries at fault and takes none.
 *
 * @see docs/destinations/klaviyo.md "Batches"
 */
export const batches: RequestBatches = {
  takesManyOfOneUser: false,
  // Klaviyo's limit is 5 MB; an entry of a job is longer than the request of its event.
  limits: () => ({ maxEvents: MAX_EVENTS, maxBytes: 3_000_000 }),
  // The number of events is in the key, so that the maximum of the first request holds for all of its batch.
  key: (request) => {
    if (request.endpoint.endsWith(PROFILE_JOB)) return PROFILE_JOB
    return isOfEvents(request) ? `${EVENT_JOB} ${eventsIn(request)}` : undefined
  },
  maxEvents: (request) => Math.max(1, Math.floor(MAX_EVENTS / eventsIn(request))),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const isProfiles = first!.endpoint.endsWith(PROFILE_JOB)
    const entries = requests.flatMap(entriesOf)
    const json = isProfiles ? profileJob(entries) : eventJob(entries)
    const endpoint = `${new URL(first!.endpoint).origin}${isProfiles ? PROFILE_JOB : EVENT_JOB}`
    return { ...first!, endpoint, body: { ...first!.body, JSON: json } }
  },
  outcomes({ status, body }, requests) {
    const errors = isJsonObject(body) ? body['errors'] : undefined
    if (status < 400 || status > 499 || !Array.isArray(errors) || requests.length === 1) return undefined
    // An error without a place, such as a refused key, says the same about all of them.
    const counts = requests.map(() => 1)
    return refusedRequests(counts, errors.map(entryOf))?.map((isRefused) => (isRefused ? 'abort' : 'resend'))
  },
}

const POINTER = /^\/data\/attributes\/(?:events-bulk-create|profiles)\/data\/(\d+)(?:\/|$)/

/** The entry that an error points at: each request of ours is one. */
function entryOf(error: JsonValue): number | undefined {
  const source = isJsonObject(error) ? error['source'] : undefined
  const pointer = isJsonObject(source) ? source['pointer'] : undefined
  const match = typeof pointer === 'string' ? POINTER.exec(pointer) : null
  return match === null ? undefined : Number(match[1])
}

function isOfEvents({ endpoint }: RequestObject): boolean {
  return endpoint.endsWith(EVENT) || endpoint.endsWith(EVENT_JOB)
}

function eventsIn(request: RequestObject): number {
  if (!request.endpoint.endsWith(EVENT_JOB)) return 1
  return ((entriesOf(request)[0]!['attributes'] as JsonObject)['events'] as { data: JsonObject[] }).data.length
}

function entriesOf({ endpoint, body }: RequestObject): JsonObject[] {
  const { attributes } = body.JSON['data'] as { attributes: JsonObject }
  if (endpoint.endsWith(PROFILE_JOB)) return (attributes['profiles'] as { data: JsonObject[] }).data
  if (endpoint.endsWith(EVENT_JOB)) return (attributes['events-bulk-create'] as { data: JsonObject[] }).data
  const { profile, ...event } = attributes
  return [eventEntry((profile as { data: JsonObject }).data, [event])]
}
