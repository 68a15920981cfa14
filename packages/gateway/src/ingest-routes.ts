import { EVENT_TYPES, type Route } from '@millrace/protocol'

/** A route that accepts events. */
export interface IngestRoute {
  /** The path in metrics, also for requests to its short name. */
  readonly path: string
  readonly method: 'POST' | 'GET'
  /** How readers interpret its records. */
  readonly record: Route
  /** Only for a route of batches: the limit as a multiple of MILLRACE_MAX_BATCH_EVENTS. */
  readonly batchFactor?: number
  /** The member `attempt` of the envelope takes effect. */
  readonly readsAttempt?: true
  /**
   * Place of the write key: the Basic header, else the body; `X-Write-Key` before both; or only the query, the last
   * part of the path, or the JSON in `data` of the query.
   */
  readonly writeKeyIn: 'header or body' | 'X-Write-Key' | 'query' | 'path' | 'data'
  /** The client parses only JSON: the answer is an object. */
  readonly answersJson?: true
}

const SHORT_NAMES: Partial<Record<string, string>> = {
  identify: 'i',
  track: 't',
  page: 'p',
  screen: 's',
  group: 'g',
  alias: 'a',
}

const routes = new Map<string, IngestRoute>()

for (const type of EVENT_TYPES) {
  const route: IngestRoute = { path: `/v1/${type}`, method: 'POST', record: type, writeKeyIn: 'header or body' }
  routes.set(route.path, route)
  const shortName = SHORT_NAMES[type]
  if (shortName !== undefined) routes.set(`/v1/${shortName}`, route)
}
const plainBatch: IngestRoute = {
  path: '/v1/batch',
  method: 'POST',
  record: 'batch',
  batchFactor: 1,
  writeKeyIn: 'header or body',
}
const batch: IngestRoute = { ...plainBatch, readsAttempt: true }
const beacon: IngestRoute = { ...batch, path: '/beacon/v1/batch', writeKeyIn: 'query' }
const backfill: IngestRoute = { ...plainBatch, path: '/v1/backfill', record: 'backfill', batchFactor: 5 }
for (const route of [batch, beacon, backfill]) routes.set(route.path, route)
// Several client libraries send all of their live traffic to /v1/import.
routes.set('/v1/b', batch)
// The libraries for Java and Ruby parse the answer, and send the batch again if they cannot.
routes.set('/v1/import', { ...plainBatch, answersJson: true })
routes.set('/s/v1/batch', beacon)
const webhook: IngestRoute = { path: '/v1/webhook', method: 'POST', record: 'webhook', writeKeyIn: 'query' }
/** The path ends with the write key. */
const hook: IngestRoute = { ...webhook, path: '/hooks/{writeKey}', writeKeyIn: 'path' }
const HOOK = /^\/hooks\/[^/]+\/?$/
routes.set(webhook.path, webhook)
for (const type of ['track', 'page'] as const) {
  const path = `/pixel/v1/${type}`
  routes.set(path, { path, method: 'GET', record: `pixel-${type}`, writeKeyIn: 'query' })
}
for (const type of EVENT_TYPES) {
  const path = `/v1/pixel/${type}`
  routes.set(path, { path, method: 'GET', record: type, writeKeyIn: 'data' })
  const jitsu = {
    path: `/api/s/${type}`,
    method: 'POST',
    record: type,
    writeKeyIn: 'X-Write-Key',
    answersJson: true,
  } as const
  routes.set(jitsu.path, jitsu)
  routes.set(`/api/s/s2s/${type}`, jitsu)
}

/**
 * The ingest route of a path, with or without one trailing slash.
 *
 * @see contracts/ingest.md §1
 */
export function ingestRoute(path: string): IngestRoute | undefined {
  const route = routes.get(path) ?? (path.endsWith('/') ? routes.get(path.slice(0, -1)) : undefined)
  return route ?? (HOOK.test(path) ? hook : undefined)
}

/** The write key at the end of a `/hooks/` path; undefined if it cannot be decoded. */
export function writeKeyInPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path.split('/')[2]!)
  } catch {
    return undefined
  }
}

/** Every path, including short names. */
export function ingestPaths(): [path: string, route: IngestRoute][] {
  return [...routes, [hook.path, hook]]
}
