import { closed, Id, named, type RouteDescription, Time, Type } from '@millrace/openapi'

const on = Type.Boolean()
const statistics = closed({ enabled: on })

const SourceConfiguration = named(
  'SourceConfiguration',
  closed({
    isHosted: on,
    source: closed({
      id: Id,
      name: Type.String(),
      writeKey: Type.String(),
      enabled: on,
      workspaceId: Id,
      updatedAt: Time,
      config: closed({ statsCollection: closed({ errors: statistics, metrics: statistics }) }),
      dataplanes: Type.Optional(closed({ US: Type.Array(closed({ url: Type.String(), default: on })) })),
      sourceDefinition: closed({ name: Type.String(), displayName: Type.String() }),
      connections: Type.Array(closed({ id: Id, sourceId: Id, destinationId: Id, enabled: on })),
      destinations: Type.Array(
        closed({
          id: Id,
          name: Type.String(),
          enabled: on,
          updatedAt: Time,
          config: Type.Record(Type.String(), Type.Unknown(), { description: 'Only the public variables of the type.' }),
          destinationDefinition: closed({ name: Type.String(), displayName: Type.String(), updatedAt: Time }),
          shouldApplyDeviceModeTransformation: on,
          propagateEventsUntransformedOnError: on,
        }),
      ),
    }),
  }),
)

const refused = (message: string) => ({ [message]: { message } })

export const SOURCE_CONFIG_IN_WORDS: RouteDescription = {
  tag: 'Ingest',
  summary: 'Show the configuration of a source to its client library',
  details: 'Send the write key in the Authorization header or, without one, in the query. The answer holds no secrets.',
  access: 'write key',
  query: { writeKey: Type.String({ description: 'If there is no Authorization header.' }) },
  requestHeaders: { 'If-None-Match': Type.String() },
  answers: {
    200: {
      text: 'The configuration of the source.',
      schema: SourceConfiguration,
      headers: { ETag: Type.String() },
      examples: {
        source: {
          isHosted: true,
          source: {
            id: '3iidO0kXIpgrmam9JhPLS2gpoVe',
            name: 'Cinema app',
            writeKey: '3PS3MKgFh6ZTxDaxUjKBsLaUg1r',
            enabled: true,
            workspaceId: '3BVLaUj9fmVMZzVa62w8CIJjwOt',
            updatedAt: '2026-02-27T16:40:11.004Z',
            config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
            dataplanes: { US: [{ url: 'https://events.cinema.example', default: true }] },
            sourceDefinition: { name: 'Cordova', displayName: 'Cordova' },
            connections: [],
            destinations: [],
          },
        },
      },
    },
    304: { text: 'Not changed since the ETag in `If-None-Match`.' },
    400: {
      text: '`Failed to read writeKey from header`, `Invalid Write Key`',
      schema: closed({ message: Type.String() }),
      examples: { ...refused('Failed to read writeKey from header'), ...refused('Invalid Write Key') },
    },
  },
}
