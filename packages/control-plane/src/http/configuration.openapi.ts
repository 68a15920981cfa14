import { closed, named, oneOf, type RouteDescription, refusals, Type } from '@millrace/openapi'
import { DIFF_LINE } from './people/people.openapi.ts'

const document = {
  millrace: 1,
  sources: { 'cinema-app': { name: 'Cinema app', type: 'Cordova', enabled: true } },
  destinations: {
    'booking-hook': {
      name: 'Booking hook',
      type: 'WEBHOOK',
      enabled: true,
      config: { webhookUrl: 'https://hooks.cinema.example/in' },
    },
  },
  connections: [{ source: 'cinema-app', destination: 'booking-hook', enabled: true }],
}
const changes = [
  {
    action: 'update',
    kind: 'destination',
    key: 'booking-hook',
    diff: [
      { path: '/config/headers/0/to', from: '********', to: '********', secretChanged: true },
      { path: '/enabled', from: false, to: true },
    ],
  },
]

const Document = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Sources, libraries, transformations and destinations by key, and the connections between them.',
})
const Revision = Type.Integer({ minimum: 0, description: 'Increases with every change of the configuration.' })
const Changes = Type.Array(
  named(
    'PlannedChange',
    closed({
      action: oneOf(['create', 'update', 'delete']),
      kind: oneOf(['source', 'library', 'transformation', 'destination', 'connection']),
      key: Type.String({ description: 'For a connection the keys of both ends: `cinema-app/booking-hook`.' }),
      diff: Type.Array(DIFF_LINE),
    }),
  ),
)
const prune = Type.Optional(
  Type.Boolean({ default: false, description: 'Removes resources that the document does not name.' }),
)
const warning = { 'X-Millrace-Warning': Type.String() }
const NOT_A_DOCUMENT = ['document must be an object', 'prune must be a boolean', 'Unknown member: colour']

export const CONFIGURATION_IN_WORDS: Record<'pull' | 'plan' | 'apply', RouteDescription> = {
  pull: {
    tag: 'Configuration',
    summary: 'Show the whole configuration as one document',
    details: 'Without users, tokens and credentials; secrets as `********`.',
    access: 'token',
    answers: {
      200: {
        text: 'The document and its revision.',
        schema: named('Configuration', closed({ revision: Revision, document: Document })),
        examples: { configuration: { revision: 57, document } },
        headers: { ETag: Type.String() },
      },
    },
  },
  plan: {
    tag: 'Configuration',
    summary: 'Show what a document would change',
    details: '`errors` lists the problems of the document; with errors it cannot be applied.',
    access: 'token',
    body: { schema: closed({ document: Document, prune }), example: { document, prune: false } },
    answers: {
      200: {
        text: 'The plan.',
        schema: named(
          'ConfigurationPlan',
          closed({
            revision: Revision,
            changes: Changes,
            errors: Type.Array(named('DocumentFault', closed({ path: Type.String(), message: Type.String() }))),
          }),
        ),
        examples: { plan: { revision: 57, changes, errors: [] } },
        headers: warning,
      },
      ...refusals({ 400: NOT_A_DOCUMENT }),
    },
  },
  apply: {
    tag: 'Configuration',
    summary: 'Apply a document, all or nothing',
    access: 'token',
    body: {
      schema: closed({
        document: Document,
        prune,
        revision: Type.Integer({ description: 'Revision of the plan.' }),
        discard: Type.Optional(
          Type.Boolean({ default: false, description: 'Discards events that wait for removed resources.' }),
        ),
      }),
      example: { document, prune: false, revision: 57 },
    },
    answers: {
      200: {
        text: 'The applied changes.',
        schema: named('AppliedConfiguration', closed({ revision: Revision, changes: Changes })),
        examples: { applied: { revision: 58, changes } },
        headers: warning,
      },
      ...refusals({
        400: [...NOT_A_DOCUMENT, 'revision must be an integer', 'discard must be a boolean'],
        409: ['Configuration has changed', 'Events are waiting'],
        422: ['Invalid config'],
      }),
    },
  },
}
