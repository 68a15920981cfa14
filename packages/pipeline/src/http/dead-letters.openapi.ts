import { DEAD_LETTER_STATES, STAGES } from '@millrace/delivery'
import {
  closed,
  Id,
  listOf,
  MAX_LIMIT,
  named,
  oneOf,
  type RouteDescription,
  refusals,
  Time,
  Type,
} from '@millrace/openapi'
import { ATTEMPT, EVENT_TYPE, STORED_EVENT } from './events.openapi.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])

const STAGE = named('Stage', oneOf(STAGES))

const summary = {
  id: Type.String(),
  state: named('DeadLetterState', oneOf(DEAD_LETTER_STATES)),
  stage: STAGE,
  reason: Type.String(),
  messageId: Type.String(),
  eventType: EVENT_TYPE,
  eventName: textOrNull,
  userId: textOrNull,
  sourceId: Id,
  destinationId: Id,
  acceptedAt: Time,
  deadAt: Time,
  attempts: Type.Integer({ minimum: 0 }),
  lastStatus: Type.Union([Type.Integer(), Type.Null()]),
  lastAnswer: textOrNull,
  transformationVersionIds: Type.Array(Id),
}

const detail = named(
  'DeadLetterWithPayloads',
  closed({
    ...summary,
    event: STORED_EVENT,
    request: Type.Union([
      closed({
        method: Type.String(),
        endpoint: Type.String(),
        headers: Type.Record(Type.String(), Type.String()),
        rendered: Type.Optional(Type.Literal(true)),
      }),
      Type.Null(),
    ]),
    answer: Type.Union([closed({ status: Type.Integer(), text: textOrNull }), Type.Null()]),
    history: Type.Array(ATTEMPT, { description: 'The first 5 and the last 15 attempts.' }),
  }),
)

const shown = {
  id: '3EXM1nH9JtMJ06hF5WfzRPot1LW',
  state: 'open',
  stage: 'delivery',
  reason: 'retry limit reached',
  messageId: 'm-88',
  eventType: 'track',
  eventName: 'Seat Reserved',
  userId: 'u-4711',
  sourceId: '3iidO0kXIpgrmam9JhPLS2gpoVe',
  destinationId: '3uLMicKvWtFGwbwBkUIwtP0l8lu',
  acceptedAt: '2026-03-04T09:15:31.900Z',
  deadAt: '2026-03-04T12:18:02.000Z',
  attempts: 45,
  lastStatus: 503,
  lastAnswer: 'maintenance',
  transformationVersionIds: [],
}
const time = (description: string) => Type.String({ description })
const FILTERS = {
  destinationId: Type.String(),
  sourceId: Type.String(),
  stage: oneOf(STAGES),
  reason: Type.String(),
  state: oneOf(DEAD_LETTER_STATES, { default: 'open' }),
  userId: Type.String(),
  messageId: Type.String(),
  from: time('Dead-lettered at or after this time.'),
  to: time('Dead-lettered before this time.'),
}

export const DEAD_LETTERS_IN_WORDS: Record<'list' | 'groups' | 'get', RouteDescription> = {
  list: {
    tag: 'Dead letters',
    summary: 'List dead letters',
    details: 'Newest first, paged by a cursor.',
    access: 'token',
    query: {
      ...FILTERS,
      limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100 }),
      cursor: Type.String({ description: 'From `paging.next`.' }),
    },
    answers: {
      200: {
        text: 'A page of dead letters, without payloads.',
        schema: listOf('deadLetters', named('DeadLetter', closed(summary))),
        examples: { page: { deadLetters: [shown], paging: { total: 1, next: '' } } },
      },
      ...refusals({ 400: ['Invalid limit', 'Invalid cursor', 'Invalid state', 'Invalid time in from'] }),
    },
  },
  groups: {
    tag: 'Dead letters',
    summary: 'Count dead letters by destination, stage, reason and last status',
    details: 'Largest first, at most 1,000 groups.',
    access: 'token',
    query: FILTERS,
    answers: {
      200: {
        text: 'The groups.',
        schema: closed({
          groups: Type.Array(
            named(
              'DeadLetterGroup',
              closed({
                destinationId: Id,
                stage: STAGE,
                reason: Type.String(),
                lastStatus: Type.Union([Type.Integer(), Type.Null()], { description: 'null: there was no answer.' }),
                count: Type.Integer({ minimum: 1 }),
                oldestAt: Time,
                newestAt: Time,
              }),
            ),
          ),
        }),
        examples: {
          groups: {
            groups: [
              {
                destinationId: shown.destinationId,
                stage: 'delivery',
                reason: 'retry limit reached',
                lastStatus: 503,
                count: 1_204,
                oldestAt: '2026-03-04T12:18:02.000Z',
                newestAt: '2026-03-04T14:01:40.118Z',
              },
            ],
          },
        },
      },
      ...refusals({ 400: ['Invalid stage', 'Invalid state', 'Invalid time in from'] }),
    },
  },
  get: {
    tag: 'Dead letters',
    summary: 'Show a dead letter with its payloads',
    access: 'token',
    answers: {
      200: {
        text: 'The dead letter.',
        schema: closed({ deadLetter: detail }),
        examples: {
          one: {
            deadLetter: {
              ...shown,
              event: {
                type: 'track',
                event: 'Seat Reserved',
                userId: 'u-4711',
                messageId: 'm-88',
                properties: { hall: 'B' },
              },
              request: {
                method: 'POST',
                endpoint: 'https://hooks.cinema.example/in',
                headers: { 'content-type': 'application/json', authorization: '********' },
              },
              answer: { status: 503, text: 'maintenance' },
              history: [
                {
                  n: 45,
                  at: '2026-03-04T12:18:01.900Z',
                  durationMs: 88,
                  status: 503,
                  class: 'retry',
                  text: 'maintenance',
                },
              ],
            },
          },
        },
      },
      ...refusals({ 404: [`Dead letter with id ${shown.id} not found`] }),
    },
  },
}
