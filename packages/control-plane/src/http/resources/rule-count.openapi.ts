import { closed, Id, named, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'
import { CONNECTION_RULES_WRITTEN } from '../../resources/connection-rules-schema.ts'

const SOURCE_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const count = Type.Integer({ minimum: 0 })

export const RULE_COUNT_IN_WORDS: RouteDescription = {
  tag: 'Connections',
  summary: 'Count stored events that rules match',
  details:
    'Looks at the stored events of a source, the newest first, for at most a second and 1,000,000 events. Nothing is saved.',
  access: 'token',
  body: {
    schema: closed({
      sourceId: Id,
      rules: Type.Optional(Type.Union([CONNECTION_RULES_WRITTEN, Type.Null()])),
      from: Type.Optional({ ...Time, description: 'Accepted from then on; a day before `to` if omitted.' }),
      to: Type.Optional({
        ...Time,
        description: 'Accepted before then; now if omitted. At most 31 days after `from`.',
      }),
    }),
    example: {
      sourceId: SOURCE_ID,
      rules: { otherwise: 'allow', list: [{ action: 'deny', events: { match: 'prefix', names: ['Debug'] } }] },
    },
  },
  answers: {
    200: {
      text: 'The counts.',
      schema: named(
        'RuleCount',
        closed({
          from: Time,
          to: Time,
          complete: Type.Boolean({ description: 'False if only events from `countedFrom` on were looked at.' }),
          countedFrom: Time,
          events: count,
          sent: { ...count, description: 'Events that the rules let through.' },
          matches: Type.Array(count, { description: 'Events that each rule decides.' }),
          otherwise: { ...count, description: 'Events that no rule matches.' },
        }),
      ),
      examples: {
        counts: {
          from: '2026-03-03T09:00:00.000Z',
          to: '2026-03-04T09:00:00.000Z',
          complete: true,
          countedFrom: '2026-03-03T09:00:00.000Z',
          events: 4_812,
          sent: 4_630,
          matches: [182],
          otherwise: 4_630,
        },
      },
    },
    ...refusals({
      400: ['sourceId is required', 'Invalid time in from', 'from must be before to, by at most 31 days'],
      404: [`Source with id ${SOURCE_ID} not found`],
      422: [['Invalid config', { path: '/rules/list/0/events/names', message: 'must not be empty' }]],
      503: ['Too many searches'],
    }),
  },
}
