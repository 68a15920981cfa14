import {
  type AnswerDescription,
  closed,
  type DescribedRoute,
  named,
  type RouteDescription,
  Type,
} from '@millrace/openapi'
import { type IngestRoute, ingestPaths } from './ingest-routes.ts'
import { REFUSALS, type RefusalReason } from './refusals.ts'

const TAG = 'Ingest'
const example = {
  messageId: 'm-88',
  userId: 'u-4711',
  event: 'Seat Reserved',
  properties: { hall: 'B', seat: 14 },
  originalTimestamp: '2026-03-04T09:15:27.120Z',
}
const userOrAnonymous = {
  userId: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  anonymousId: Type.Optional(Type.Union([Type.String(), Type.Number()])),
}
const properties = {
  ...userOrAnonymous,
  messageId: Type.Optional(Type.String({ description: 'Generated if omitted.' })),
  event: Type.Optional(Type.String({ description: 'Name of a track event.' })),
  name: Type.Optional(Type.String({ description: 'Name of a page or screen.' })),
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  traits: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  context: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  integrations: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  originalTimestamp: Type.Optional(Type.String()),
  sentAt: Type.Optional(Type.String()),
  writeKey: Type.Optional(Type.String({ description: 'If there is no Authorization header.' })),
}
const about = 'userId or anonymousId is required. Other members are stored unchanged.'
const shared = (member: string) =>
  Type.Record(Type.String(), Type.Unknown(), {
    description: `Merged into \`${member}\` of each event; the event's own values win.`,
  })
const Event = named('Event', Type.Object(properties, { description: about }))
const Batch = named(
  'Batch',
  Type.Object({
    batch: Type.Array(Type.Object({ type: Type.String(), ...properties }), { minItems: 1 }),
    sentAt: Type.Optional(Type.String()),
    context: Type.Optional(shared('context')),
    integrations: Type.Optional(shared('integrations')),
    attempt: Type.Optional(
      Type.String({
        description:
          'exit or first: the server remembers the events for a day. repeat: it drops events that it remembers.',
      }),
    ),
    writeKey: properties.writeKey,
  }),
)

/** The routes by which events come in, in words. */
export function ingestInWords(): DescribedRoute[] {
  const paths = ingestPaths()
  const shortNames = paths.filter(([path, route]) => path !== route.path)
  return [...paths.filter((each) => !shortNames.includes(each)), ...shortNames].map(([path, route]) => ({
    method: route.method,
    path,
    description: descriptionOf(path, route),
  }))
}

function descriptionOf(path: string, route: IngestRoute): RouteDescription {
  if (route.method === 'GET') return route.writeKeyIn === 'data' ? dataPixel(route) : pixel(path)
  if (route.record === 'webhook') return webhook(route)
  const isBatch = route.batchFactor !== undefined
  const isBeacon = route.writeKeyIn === 'query'
  const details = [
    'A 200 means that every event is on disk, synced. A batch is all or nothing.',
    ...(route.record === 'backfill'
      ? ['For importing history: live events go first. Accepts five times as many events.']
      : []),
    ...(route.writeKeyIn === 'X-Write-Key'
      ? ['For the web library of Jitsu: the answer is JSON, and a secret after the key is ignored.']
      : []),
    ...(isBeacon ? ['The Content-Type of the request is ignored.'] : []),
    ...(path === route.path ? [] : [`The same as ${route.path}.`]),
  ]
  return {
    tag: TAG,
    summary: isBatch ? `Send ${SUMMARIES[route.record] ?? 'a batch of events'}` : `Send an event: ${route.record}`,
    details: details.join(' '),
    access: isBeacon ? 'write key in query' : 'write key',
    ...(isBatch && route.record !== 'backfill' ? { requestHeaders: PRIORITY } : {}),
    ...(route.writeKeyIn === 'X-Write-Key' ? { requestHeaders: OWN_HEADER } : {}),
    body: isBatch ? { schema: Batch, example: { batch: [{ type: 'track', ...example }] } } : { schema: Event, example },
    answers: route.answersJson
      ? inJson(refused(others(isBatch, isBeacon)))
      : { 200: { ...text('`OK`'), examples: { ok: 'OK' } }, ...refused(others(isBatch, isBeacon)) },
  }
}

/** The same answers as objects; all but those of a header that cannot be read. */
function inJson(answers: Record<number, AnswerDescription>): Record<number, AnswerDescription> {
  const entries = Object.entries(answers).map(([status, answer]) => {
    if (status === '431') return [status, answer]
    const examples = Object.keys(answer.examples ?? {}).map((error) => [error, { success: false, error }])
    const { mediaType: _text, ...rest } = answer
    return [status, { ...rest, schema: JsonRefusal, examples: Object.fromEntries(examples) }]
  })
  const accepted = {
    text: 'The event is stored.',
    schema: closed({ success: Type.Literal(true) }),
    examples: { success: { success: true } },
  }
  return { 200: accepted, ...Object.fromEntries(entries) }
}

const JsonRefusal = named('IngestRefusal', closed({ success: Type.Literal(false), error: Type.String() }))
const OWN_HEADER = {
  'X-Write-Key': Type.String({
    description: 'The write key, also as `key:secret`; it takes precedence over other keys.',
  }),
}

const PRIORITY = {
  'X-Millrace-Priority': Type.String({ description: '`low`: history, which waits while live events are due.' }),
}
const SUMMARIES: Readonly<Record<string, string>> = { backfill: 'history', batch: 'a batch of events' }

function text(words: string): AnswerDescription {
  return { text: words, schema: Type.String(), mediaType: 'text/plain' }
}

function webhook({ writeKeyIn }: IngestRoute): RouteDescription {
  const isInPath = writeKeyIn === 'path'
  return {
    tag: TAG,
    summary: 'Receive a webhook of a service',
    details:
      'For sources of type Webhook, and services that cannot set a header. Each JSON object becomes a `track` event with the object as ' +
      'its properties; the paths configured for the source give name and ids.',
    access: isInPath ? 'none' : 'write key in query',
    ...(isInPath ? { pathParameters: { writeKey: Type.String({ description: 'Write key of the source.' }) } } : {}),
    body: {
      schema: Type.Unsafe<unknown>({ description: 'An object, or an array of objects.' }),
      example: { id: 'evt_7', type: 'invoice.paid', data: { object: { customer: 'cus_4711', amount_paid: 1850 } } },
    },
    answers: {
      200: { ...text('`OK`'), examples: { ok: 'OK' } },
      ...refused([
        'method',
        'no_write_key',
        'no_ids',
        'event_size',
        ...(isInPath ? (['no_query_write_key'] as const) : []),
      ]),
    },
  }
}

/** The reasons for which an event route never refuses. */
function others(isBatch: boolean, isBeacon: boolean): RefusalReason[] {
  const always = ['method', 'webhook_signature', isBeacon ? 'no_write_key' : 'no_query_write_key'] as const
  return isBatch ? [...always] : [...always, 'empty_batch', 'invalid_event', 'batch_size']
}

/** The refusals of a POST route, by status. @param left reasons that it never has. */
function refused(left: readonly RefusalReason[]): Record<number, AnswerDescription> {
  const isBatch = !left.includes('invalid_event')
  const answers: Record<number, AnswerDescription> = {}
  for (const [reason, refusal] of Object.entries(REFUSALS)) {
    if (left.includes(reason as RefusalReason)) continue
    const known = answers[refusal.status]
    answers[refusal.status] = {
      ...text(known === undefined ? `\`${refusal.text}\`` : `${known.text}, \`${refusal.text}\``),
      examples: { ...known?.examples, [refusal.text]: refusal.text },
      ...(HEADERS[refusal.status] ?? (isBatch && [400, 413].includes(refusal.status) ? EVENT_INDEX : {})),
    }
  }
  return { ...answers, 431: { ...text('`Request header too large`'), examples: { large: 'Request header too large' } } }
}

const seconds = Type.String({ pattern: '^\\d+$', description: 'Seconds.' })
const EVENT_INDEX = {
  headers: { 'X-Millrace-Event-Index': Type.String({ description: 'Index of the refused event, from 0.' }) },
}
const HEADERS: Readonly<Record<number, Pick<AnswerDescription, 'headers'>>> = {
  415: { headers: { 'Accept-Encoding': Type.String() } },
  429: {
    headers: {
      'Retry-After': seconds,
      'RateLimit-Limit': Type.String(),
      'RateLimit-Remaining': Type.String(),
      'RateLimit-Reset': seconds,
    },
  },
  503: { headers: { 'Retry-After': seconds } },
}

function dataPixel({ record }: IngestRoute): RouteDescription {
  const { answers } = pixel(record)
  return {
    tag: TAG,
    summary: `Send an event by an image: ${record}, as JSON`,
    details: 'For mails and pages without script. The event carries its write key as `writeKey`.',
    access: 'none',
    query: { data: Type.String({ description: 'The event as JSON, in base64.' }) },
    answers,
  }
}

function pixel(path: string): RouteDescription {
  const gif = { schema: Type.Unsafe<string>({}), mediaType: 'image/gif' }
  return {
    tag: TAG,
    summary: `Send an event by an image: ${path.endsWith('page') ? 'page' : 'track'}`,
    details: 'Members of the query are those of the event; dotted names are nested objects: `properties.hall=B`.',
    access: 'write key in query',
    query: {
      userId: Type.String(),
      anonymousId: Type.String(),
      ...(path.endsWith('page') ? { name: Type.String() } : { event: Type.String() }),
    },
    answers: {
      200: {
        ...gif,
        text: 'A transparent image, also for a refused event.',
        headers: { 'X-Millrace-Error': Type.String({ description: 'Why the event is refused.' }) },
      },
      503: { ...gif, text: 'The event could not be stored.' },
    },
  }
}
