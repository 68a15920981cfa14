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
import { EVENT_TYPES } from '@millrace/protocol'
import { OUTCOMES } from '../events/event-filter.ts'
import { REQUEST_OBJECT } from './request-object.openapi.ts'

export const EVENT_TYPE = named('EventType', oneOf(EVENT_TYPES))
const OUTCOME = named('Outcome', oneOf(OUTCOMES))

const SOURCE_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const DESTINATION_ID = '3uLMicKvWtFGwbwBkUIwtP0l8lu'

/** An event as every reader sees it. */
export const STORED_EVENT = named('StoredEvent', Type.Record(Type.String(), Type.Unknown()))

export const ATTEMPT = named(
  'Attempt',
  closed({
    n: Type.Integer({ minimum: 1 }),
    at: Time,
    durationMs: Type.Number({ minimum: 0 }),
    batch: Type.Optional(
      Type.Integer({ minimum: 2, description: 'How many events its request carried; absent for one.' }),
    ),
    status: Type.Integer({ description: 'Status of the answer; 500 or above also without an answer.' }),
    class: oneOf(['delivered', 'retry', 'abort']),
    text: Type.Union([Type.String(), Type.Null()]),
  }),
)

const timeOrNull = Type.Union([Time, Type.Null()])
const waiting = named(
  'Waiting',
  closed({
    cause: oneOf([
      'sending',
      'destination_off',
      'connection_off',
      'credentials_refused',
      'destination_failing',
      'retry',
      'order',
      'rate_limit',
      'turn',
    ]),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the last answer; null without one.' }),
    noAnswer: Type.Union([Type.String(), Type.Null()], { description: 'The reason if there was no answer.' }),
    since: timeOrNull,
    nextAttemptAt: timeOrNull,
    blockedBy: Type.Union([Type.String(), Type.Null()], { description: 'messageId of an earlier event of the user.' }),
    sentence: Type.String({ description: 'The reason as a sentence, with times in UTC.' }),
  }),
)
const waitingExample = {
  cause: 'destination_failing',
  status: 503,
  noAnswer: null,
  since: '2026-03-04T17:43:10.000Z',
  nextAttemptAt: '2026-03-04T17:50:20.000Z',
  blockedBy: null,
  sentence: 'Queued: destination answers 503 since 17:43 UTC, next attempt in 20 s',
}

const journey = named(
  'Journey',
  closed({
    destinationId: Id,
    outcome: OUTCOME,
    reason: Type.Union([Type.String(), Type.Null()]),
    replayId: Type.Union([Id, Type.Null()]),
    transformationVersionIds: Type.Array(Id),
    configRevision: Type.Union([Type.Integer(), Type.Null()]),
    requests: Type.Array(
      named(
        'TracedRequest',
        closed({
          method: Type.Optional(Type.String()),
          endpoint: Type.Optional(Type.String()),
          rendered: Type.Optional(
            Type.Literal(true, { description: 'The request was not stored; it is recreated from the event.' }),
          ),
          attempts: Type.Array(ATTEMPT),
        }),
      ),
    ),
    nextAttemptAt: Type.Optional({ ...Time, description: 'If it is retrying.' }),
    blockedBy: Type.Optional(
      Type.String({
        description: 'If it is blocked: messageId of the earlier event of the same user.',
      }),
    ),
    waiting: Type.Optional(waiting),
    rendered: Type.Optional(
      named(
        'Rendered',
        closed(
          {
            versions: oneOf(['recorded', 'today'], {
              description: 'today: the configuration has changed since the event.',
            }),
            steps: Type.Array(
              closed({
                transformationId: Id,
                versionId: Id,
                output: Type.Array(STORED_EVENT, { description: 'Empty if the step dropped the event or failed.' }),
                error: Type.Union([Type.String(), Type.Null()]),
              }),
            ),
            requests: Type.Array(REQUEST_OBJECT),
          },
          { description: 'For the destination in `render`: recreated from the stored event, without sending.' },
        ),
      ),
    ),
  }),
)

const event = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: 'm-88', properties: { hall: 'B' } }

export const TRACE_IN_WORDS: RouteDescription = {
  tag: 'Events',
  summary: 'Trace an event',
  details:
    'The journeys of each accepted event with this messageId. Visible within 1 s, until 168 h after the outcome.',
  access: 'token',
  query: {
    sourceId: Type.String({ description: 'Only of this source.' }),
    render: Type.String({
      description: 'Id of a destination: adds the results of its transformations and its requests.',
    }),
  },
  answers: {
    200: {
      text: 'The journeys.',
      schema: closed({
        events: Type.Array(
          named(
            'EventTrace',
            closed({
              messageId: Type.String(),
              sourceId: Id,
              acceptedAt: Time,
              position: Type.String({ description: 'Position in the log.' }),
              event: STORED_EVENT,
              destinations: Type.Array(journey),
            }),
          ),
        ),
      }),
      examples: {
        journey: {
          events: [
            {
              messageId: 'm-88',
              sourceId: SOURCE_ID,
              acceptedAt: '2026-03-04T09:15:31.900Z',
              position: '0-184467-3',
              event,
              destinations: [
                {
                  destinationId: DESTINATION_ID,
                  outcome: 'delivered',
                  reason: null,
                  replayId: null,
                  transformationVersionIds: [],
                  configRevision: 57,
                  requests: [
                    {
                      method: 'POST',
                      endpoint: 'https://hooks.cinema.example/in',
                      attempts: [
                        {
                          n: 1,
                          at: '2026-03-04T09:15:32.010Z',
                          durationMs: 84,
                          status: 202,
                          class: 'delivered',
                          text: '{"accepted":true}',
                        },
                      ],
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
    },
    ...refusals({ 400: ['Invalid sourceId', 'Invalid render'], 404: ['Event with messageId m-88 not found'] }),
  },
}

const textOrNull = Type.Union([Type.String(), Type.Null()])
const facts = {
  messageId: Type.String(),
  sourceId: Id,
  acceptedAt: Time,
  type: EVENT_TYPE,
  name: textOrNull,
  userId: textOrNull,
  anonymousId: textOrNull,
}
const accepted = {
  messageId: 'm-88',
  sourceId: SOURCE_ID,
  acceptedAt: '2026-03-04T09:15:31.900Z',
  type: 'track',
  name: 'Seat Reserved',
  userId: 'u-4711',
  anonymousId: null,
}
const FILTERS = {
  sourceId: Type.String(),
  type: oneOf(EVENT_TYPES),
  name: Type.String(),
  notName: Type.String({ description: 'Only events with another name.' }),
  userId: Type.String(),
  anonymousId: Type.String(),
  outcome: oneOf(OUTCOMES),
  destinationId: Type.String(),
}

export const LIST_IN_WORDS: RouteDescription = {
  tag: 'Events',
  summary: 'List accepted events with their outcomes, newest first',
  details:
    'Without payloads. One call scans at most 1,000,000 events, or for one second. Follow `paging.next`, also after an empty page.',
  access: 'token',
  query: {
    ...FILTERS,
    from: Type.String({ description: 'Accepted at or after this time.' }),
    to: Type.String({ description: 'Accepted before this time.' }),
    limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100 }),
    cursor: Type.String({ description: '`paging.next` of the previous page.' }),
  },
  answers: {
    200: {
      text: 'A page of events.',
      schema: listOf(
        'events',
        named(
          'ListedEvent',
          closed({
            ...facts,
            outcomes: Type.Array(
              closed({
                destinationId: Id,
                outcome: OUTCOME,
                reason: textOrNull,
                waiting: Type.Optional(waiting),
              }),
            ),
          }),
        ),
      ),
      examples: {
        page: {
          events: [{ ...accepted, outcomes: [{ destinationId: DESTINATION_ID, outcome: 'delivered', reason: null }] }],
          paging: { total: null, next: '' },
        },
      },
    },
    ...refusals({
      400: ['Invalid limit', 'Invalid cursor', 'Invalid type', 'Invalid outcome', 'Invalid time in from'],
      503: ['Too many searches'],
    }),
  },
}

/** The data of each message. The format of a stream has no words for the name of a message: the components have them. */
const TAIL_STREAM = Type.String({
  contentSchema: Type.Union([
    named('TailAccepted', closed(facts)),
    named(
      'TailOutcome',
      closed({
        messageId: Type.String(),
        destinationId: Id,
        outcome: OUTCOME,
        reason: textOrNull,
        status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the answer.' }),
        durationMs: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
      }),
    ),
    named('TailSkipped', closed({ count: Type.Integer({ minimum: 1, description: 'Messages that are not shown.' }) })),
  ]),
})

export const TAIL_IN_WORDS: RouteDescription = {
  tag: 'Events',
  summary: 'Watch events and their outcomes live',
  details: 'Messages `accepted`, `outcome`, and above 50 a second `skipped` with a count. At most 20 listeners.',
  access: 'token',
  query: FILTERS,
  answers: {
    200: {
      text: 'Messages, until the client disconnects, the token becomes invalid, or the server stops.',
      schema: TAIL_STREAM,
      mediaType: 'text/event-stream',
      examples: { accepted: `event: accepted\ndata: ${JSON.stringify(accepted)}\n\n` },
    },
    ...refusals({ 400: ['Invalid type', 'Invalid outcome'], 503: ['Too many listeners'] }),
  },
}

const msOrNull = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])
const percentiles = closed({ p50: msOrNull, p95: msOrNull, p99: msOrNull })
const count = Type.Integer({ minimum: 0 })

const deliveryState = named(
  'DeliveryState',
  closed({
    destinationId: Id,
    state: oneOf(['ok', 'resting', 'unauthorised'], { description: 'resting: the breaker is open.' }),
    statusText: Type.Union([Type.String(), Type.Null()]),
    pending: Type.Integer({ minimum: 0, description: 'Events that no lane has taken yet, before filters.' }),
    retrying: count,
    throttled: Type.Integer({ minimum: 0, description: 'Events of `pending` that wait for the rate limit.' }),
    blockedEvents: count,
    blockedUsers: count,
    hotId: Type.Union([closed({ id: Type.String(), waiting: count }), Type.Null()], {
      description: 'The user with the most waiting events.',
    }),
    concurrency: count,
    waiting: Type.Union([waiting, Type.Null()], {
      description: 'Why events wait, if there is one reason for all.',
    }),
    oldestPendingAt: Type.Union([Time, Type.Null()]),
    delivered24h: count,
    deadLettersOpen: count,
    expired: count,
    backlogBytes: count,
    latencyMs: percentiles,
  }),
)
const deliveryStateExample = {
  destinationId: DESTINATION_ID,
  state: 'ok',
  statusText: null,
  pending: 12,
  retrying: 3,
  throttled: 0,
  blockedEvents: 7,
  blockedUsers: 2,
  hotId: null,
  concurrency: 24,
  waiting: waitingExample,
  oldestPendingAt: '2026-03-04T09:15:31.900Z',
  delivered24h: 88_213,
  deadLettersOpen: 1,
  expired: 0,
  backlogBytes: 9_920,
  latencyMs: { p50: 61, p95: 180, p99: 420 },
}

export const STATE_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'Show the delivery state of a destination',
  access: 'token',
  answers: {
    200: { text: 'Counts and state.', schema: deliveryState, examples: { state: deliveryStateExample } },
    ...refusals({ 404: [`Destination with id ${DESTINATION_ID} not found`] }),
  },
}

export const STATES_IN_WORDS: RouteDescription = {
  tag: 'Destinations',
  summary: 'Show the delivery state of all destinations',
  details: 'In order of creation.',
  access: 'token',
  query: {
    page: Type.Integer({ minimum: 1, default: 1 }),
    limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100 }),
  },
  answers: {
    200: {
      text: 'A page of counts and states.',
      schema: listOf('delivery', deliveryState),
      examples: { page: { delivery: [deliveryStateExample], paging: { total: 1, next: '' } } },
    },
    ...refusals({ 400: ['Invalid page', 'Invalid limit'] }),
  },
}
