import {
  type AnswerDescription,
  closed,
  type DescribedRoute,
  named,
  oneOf,
  type RouteDescription,
  Type,
} from '@millrace/openapi'
import { EVENT_TYPES } from '@millrace/protocol'

const TAG = 'Schema catalog'
const WRITE_KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'
const EVENT_ID = '87295528-1a53-4a1e-beea-6c8efcc64b7d'
const VERSION_ID = '541091d8-38ed-440a-89e6-f80af9b5f4bc'

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const Micros = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
  description: 'RFC 3339 in UTC with microseconds.',
})
const count = Type.Integer({ minimum: 0 })
const Schema = named(
  'KeyTypes',
  Type.Record(Type.String(), Type.String(), {
    description: 'Type by dotted key path: string, float64, bool; a model may have several, joined by commas.',
  }),
)
const KeyCounts = Type.Record(Type.String(), count)

const eventModel = {
  ID: Type.Integer(),
  EventID: Uuid,
  WriteKey: Type.String(),
  EventType: named('EventType', oneOf(EVENT_TYPES)),
  EventIdentifier: Type.String(),
  CreatedAt: Micros,
  Schema,
  LastSeen: Micros,
  TotalCount: count,
}
const EventModel = named('EventModel', closed(eventModel))
const EventModelWithExtras = named(
  'EventModelWithExtras',
  closed({ ...eventModel, VersionCount: count, UnversionedCount: count, CutKeys: count }),
)
const EventVersion = named(
  'EventVersion',
  closed({
    ID: Type.Integer(),
    VersionID: Uuid,
    EventModelID: Uuid,
    Schema,
    FirstSeen: Micros,
    LastSeen: Micros,
    TotalCount: count,
  }),
)
const EventMetadata = named(
  'EventMetadata',
  closed({
    SampledEvents: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    TotalCount: count,
    FrequentValues: Type.Record(Type.String(), Type.Array(closed({ Value: Type.String(), Frequency: count }))),
  }),
)
const CatalogStatus = named(
  'CatalogStatus',
  closed({
    LagEvents: count,
    LagSeconds: Type.Number({ minimum: 0 }),
    Positions: Type.Array(Type.String()),
    Sources: Type.Array(closed({ WriteKey: Type.String(), Models: count, Cut: Type.Record(Type.String(), count) })),
  }),
)

const schema = { type: 'string', event: 'string', 'properties.hall': 'string', 'properties.price': 'float64' }
const model = {
  ID: 12,
  EventID: EVENT_ID,
  WriteKey: WRITE_KEY,
  EventType: 'track',
  EventIdentifier: 'Seat Reserved',
  CreatedAt: '2026-03-01T07:58:10.250000Z',
  Schema: { ...schema, 'properties.coupon': 'string' },
  LastSeen: '2026-03-04T09:15:31.900000Z',
  TotalCount: 240,
}
const version = {
  ID: 31,
  VersionID: VERSION_ID,
  EventModelID: EVENT_ID,
  Schema: schema,
  FirstSeen: '2026-03-01T07:58:10.250000Z',
  LastSeen: '2026-03-04T09:15:31.900000Z',
  TotalCount: 168,
}
const metadata = {
  SampledEvents: [{ type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', price: 18.5 } }],
  TotalCount: 240,
  FrequentValues: {
    'properties.hall': [
      { Value: 'B', Frequency: 150 },
      { Value: 'A', Frequency: 90 },
    ],
  },
}
const status = {
  LagEvents: 0,
  LagSeconds: 0.1,
  Positions: ['0-184467'],
  Sources: [
    {
      WriteKey: WRITE_KEY,
      Models: 14,
      Cut: { models: 0, versions: 0, unversionedEvents: 0, keys: 3, arrayItems: 41, values: 0, paths: 0 },
    },
  ],
}
const jsonSchema = {
  schema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: { hall: { type: ['string'] }, price: { type: ['number'] } },
  },
  schemaType: 'track',
  schemaIdentifier: 'Seat Reserved',
}
const PAGING = {
  limit: Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default: the whole list.' }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
}
const writeKey = Type.String({ description: 'Only of the source with this write key.' })

/** The routes of the schema API, in words. */
export function schemaInWords(): DescribedRoute[] {
  const missingKeys = described('List the keys of the model that a version lacks', {
    text: 'Key paths in byte order.',
    schema: Type.Array(Type.String()),
    examples: { missing: ['properties.coupon'] },
  })
  const noVersion = `No SchemaVersion found for given VersionID : ${VERSION_ID}`
  const routes: Record<string, RouteDescription> = {
    '/schemas/event-models': {
      ...described('List event models', {
        text: 'Models in order of creation.',
        schema: Type.Union([Type.Array(EventModel), Type.Array(EventModelWithExtras)]),
        examples: { models: [model] },
      }),
      details: 'A model groups the events of one source, type and name.',
      query: {
        WriteKey: writeKey,
        ...PAGING,
        extras: Type.Boolean({ default: false, description: 'Adds VersionCount, UnversionedCount and CutKeys.' }),
      },
    },
    '/schemas/event-versions': {
      ...described(
        'List the versions of an event model',
        {
          text: 'Versions in the order of their first events.',
          schema: Type.Array(EventVersion),
          examples: { versions: [version] },
        },
        { 400: 'Mandatory field: EventID missing' },
      ),
      details: 'A version groups the events of a model that have the same keys with the same types.',
      query: { EventID: Type.String({ description: 'Required. Id of a model.' }), ...PAGING },
    },
    '/schemas/event-model/{EventID}/metadata': described(
      'Show samples and frequent values of a model',
      { text: 'Metadata.', schema: EventMetadata, examples: { metadata } },
      { 404: `No Metadata found for given EventID : ${EVENT_ID}` },
    ),
    '/schemas/event-version/{VersionID}/metadata': described(
      'Show samples and frequent values of a version',
      { text: 'Metadata.', schema: EventMetadata, examples: { metadata } },
      { 404: `No Metadata found for given VersionID : ${VERSION_ID}` },
    ),
    '/schemas/event-model/{EventID}/key-counts': described('Count the events of a model that have each key', {
      text: 'Events by key path.',
      schema: KeyCounts,
      examples: { counts: { type: 240, 'properties.coupon': 72 } },
    }),
    '/schemas/event-version/{VersionID}/missing-keys': withRefusal(missingKeys, 404, noVersion),
    '/schemas/{VersionID}/missing-keys': {
      ...withRefusal(missingKeys, 404, noVersion),
      details: 'The same as /schemas/event-version/{VersionID}/missing-keys.',
    },
    '/schemas/event-models/json-schemas': {
      ...described(
        'Export event models as JSON Schemas',
        {
          text: 'One for each track, page, screen, identify and group model with properties or traits.',
          schema: Type.Array(
            named(
              'ModelJsonSchema',
              closed({
                schema: Type.Record(Type.String(), Type.Unknown()),
                schemaType: Type.String(),
                schemaIdentifier: Type.String(),
              }),
            ),
          ),
          examples: { schemas: [jsonSchema] },
        },
        { 404: 'No event models exists to create a tracking plan.' },
      ),
      query: { WriteKey: writeKey },
    },
    '/schemas/status': described('Show the lag of the catalog, and what its limits cut', {
      text: 'The state of the catalog.',
      schema: CatalogStatus,
      examples: { status },
    }),
  }
  return Object.entries(routes).map(([path, description]) => ({ method: 'GET', path, description }))
}

const Refusal = named('SchemaRefusal', closed({ msg: Type.String() }))

function described(
  summary: string,
  answer: AnswerDescription,
  refusals: Record<number, string> = {},
): RouteDescription {
  let description: RouteDescription = { tag: TAG, summary, access: 'admin', answers: { 200: answer } }
  for (const [status, text] of Object.entries(refusals)) description = withRefusal(description, Number(status), text)
  for (const text of ['Basic auth credentials missing', 'Invalid admin credentials']) {
    description = withRefusal(description, 400, text)
  }
  return withRefusal(description, 503, 'Service unavailable')
}

function withRefusal(description: RouteDescription, status: number, msg: string): RouteDescription {
  const known = description.answers[status]
  const text = known === undefined ? `\`${msg}\`` : `${known.text}, \`${msg}\``
  const answer = { text, schema: Refusal, examples: { ...known?.examples, [msg]: { msg } } }
  return { ...description, answers: { ...description.answers, [status]: answer } }
}
