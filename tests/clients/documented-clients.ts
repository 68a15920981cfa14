import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Kind } from './clients.ts'

/** A library that is not run here: its requests are written from its public documentation. */
export interface DocumentedClient {
  readonly name: string
  readonly path: string
  readonly headers: (writeKey: string) => Readonly<Record<string, string>>
  /** Members of each event beside those of its kind. */
  readonly event: object
  /** Members of the body beside `batch`. */
  readonly envelope: (writeKey: string) => object
  readonly lacks?: readonly Kind[]
  /** It has a setting that compresses. */
  readonly mayCompress?: boolean
}

const TIME = '2026-03-04T09:15:27.120Z'
const SENT_AT = '2026-03-04T09:15:28.400Z'
const basic = (writeKey: string) => `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`
const inHeader = (writeKey: string) => ({ Authorization: basic(writeKey), 'Content-Type': 'application/json' })
const inBody = () => ({ 'Content-Type': 'application/json' })
const library = (name: string, version: string, more: object = {}) => ({
  context: { library: { name, version, ...more } },
})
const ofDevice = (name: string, version: string) => ({
  ...library(name, version),
  timestamp: TIME,
  anonymousId: 'a-5',
  integrations: {},
  _metadata: { bundled: [], unbundled: [], bundledIds: [] },
})
const withKey = (writeKey: string) => ({ sentAt: SENT_AT, writeKey })
const withoutKey = () => ({ sentAt: SENT_AT })

export const DOCUMENTED_CLIENTS: readonly DocumentedClient[] = [
  {
    name: 'analytics-ruby 2.5',
    path: '/v1/import',
    headers: (writeKey) => ({
      ...inHeader(writeKey),
      Accept: 'application/json',
      'User-Agent': 'analytics-ruby/2.5.0',
    }),
    event: { ...library('analytics-ruby', '2.5.0'), timestamp: TIME },
    envelope: withoutKey,
  },
  {
    name: 'segmentio/analytics-php 3.8',
    path: '/v1/batch',
    headers: inHeader,
    event: {
      ...library('analytics-php', '3.8.1', { consumer: 'LibCurl' }),
      timestamp: '2026-03-04T09:15:27.120+00:00',
    },
    envelope: withoutKey,
    mayCompress: true,
  },
  {
    name: 'Analytics.NET 3.8',
    path: '/v1/import',
    headers: inHeader,
    event: { ...library('Analytics.NET', '3.8.0'), timestamp: TIME, integrations: {} },
    envelope: () => ({ sentAt: SENT_AT, messageId: 'b-1' }),
    mayCompress: true,
  },
  {
    // It names the key in the body alone; the version after it sends a header, too.
    name: 'Segment.Analytics.CSharp 2.6',
    path: '/v1/b',
    headers: inBody,
    event: ofDevice('Analytics-CSharp', '2.6.0'),
    envelope: withKey,
  },
  {
    name: 'analytics-swift 1.6',
    path: '/v1/b',
    headers: inHeader,
    event: ofDevice('analytics-swift', '1.6.0'),
    envelope: withKey,
    lacks: ['page'],
  },
  {
    // Its documentation names no header, so the key counts that every library of its family has in the body.
    name: 'segment_analytics (Flutter) 1.1',
    path: '/v1/b',
    headers: inBody,
    event: ofDevice('analytics_flutter', '1.1.0'),
    envelope: withKey,
    lacks: ['page'],
  },
]

const EVENTS: Readonly<Record<Kind, object>> = {
  identify: { traits: { plan: 'gold', seats: 14 } },
  track: { event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } },
  page: { name: 'Seats', properties: { path: '/seats' } },
  screen: { name: 'Programme', properties: { day: 'Friday' } },
  group: { groupId: 'g-7', traits: { name: 'Friends of film' } },
  alias: { previousId: 'u-77' },
}

/** One batch with an event of every kind that the library has. */
export function batchOf({ event, envelope, lacks = [] }: DocumentedClient, writeKey: string) {
  const kinds = (Object.keys(EVENTS) as Kind[]).filter((kind) => !lacks.includes(kind))
  const batch = kinds.map((type) => ({ type, userId: 'u-88', messageId: randomUUID(), ...EVENTS[type], ...event }))
  return { ...envelope(writeKey), batch }
}

/** @param attempt from 0; newer versions of the libraries name it from the second on. */
export function requestOf(client: DocumentedClient, writeKey: string, body: object, attempt: number, isGzip: boolean) {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    ...client.headers(writeKey),
    ...(attempt > 0 ? { 'X-Retry-Count': String(attempt) } : {}),
    ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
  }
  return { method: 'POST', headers, body: isGzip ? gzipSync(bytes) : bytes }
}
