import { JOB_STATES, STAGES } from '@millrace/delivery'
import {
  closed,
  closedPartial,
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
import { FINAL_OUTCOMES } from '../events/event-filter.ts'
import { MAX_PER_SECOND, STANDARD_RATE } from './replay-rate.ts'

const LETTER = '3EXM1nH9JtMJ06hF5WfzRPot1LW'
const REPLAY = '37A4poI9SaefdDdDQ6BJiCpwwUV'
const DESTINATION = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const count = Type.Integer({ minimum: 0 })
const timeOrNull = Type.Union([Time, Type.Null()])

const REPLAY_SHOWN = named(
  'Replay',
  closed({
    id: Id,
    origin: oneOf(['log', 'dead_letters'], { description: 'Origin of its events.' }),
    kind: oneOf(['replay', 'discard'], { description: 'Action on them.' }),
    dryRun: Type.Boolean({ description: 'Counts only.' }),
    state: named('ReplayState', oneOf(JOB_STATES)),
    matched: Type.Union([count, Type.Null()], { description: 'null until counted.' }),
    taken: count,
    delivered: count,
    filtered: count,
    deadLettered: Type.Integer({
      minimum: 0,
      description: 'Events that failed; replayed dead letters are open again.',
    }),
    discarded: count,
    damaged: Type.Boolean({
      description:
        'Whether the log has lost a part of the range to damage. Its events are neither counted nor replayed.',
    }),
    sourceIds: Type.Array(Type.String()),
    destinationIds: Type.Array(Id),
    from: timeOrNull,
    to: timeOrNull,
    rateEventsPerSecond: Type.Integer({ minimum: 1, description: 'Shared by its destinations.' }),
    createdBy: Type.String(),
    createdAt: Time,
    finishedAt: timeOrNull,
  }),
)

const SOURCE = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const replay = {
  id: REPLAY,
  origin: 'log',
  kind: 'replay',
  dryRun: false,
  state: 'running',
  matched: 5120,
  taken: 400,
  delivered: 391,
  filtered: 0,
  deadLettered: 2,
  discarded: 0,
  damaged: false,
  sourceIds: [SOURCE],
  destinationIds: [DESTINATION],
  from: '2026-03-03T00:00:00.000Z',
  to: '2026-03-04T00:00:00.000Z',
  rateEventsPerSecond: 200,
  createdBy: 'ops@cinema.example',
  createdAt: '2026-03-05T10:00:00.000Z',
  finishedAt: null,
}

const text = Type.String()
const RATE = Type.Integer({
  minimum: 1,
  maximum: MAX_PER_SECOND,
  default: STANDARD_RATE,
  description: 'Shared by the destinations.',
})
const SELECTION = {
  ids: Type.Array(text, { minItems: 1, maxItems: 10_000 }),
  filter: closedPartial(
    {
      destinationId: text,
      sourceId: text,
      stage: oneOf(STAGES),
      reason: text,
      state: oneOf(['open']),
      userId: text,
      messageId: text,
      from: Type.String({ description: 'Dead-lettered at or after this time.' }),
      to: Type.String({ description: 'Dead-lettered before this time.' }),
    },
    { description: 'Not empty; `{"state": "open"}` matches all.' },
  ),
  dryRun: Type.Boolean({ default: false, description: 'Only count.' }),
}
const LETTERS_REPLAYED = {
  schema: named('DeadLettersReplayed', closedPartial({ ...SELECTION, rateEventsPerSecond: RATE })),
  example: { filter: { destinationId: DESTINATION }, rateEventsPerSecond: 200, dryRun: false },
}
const LETTERS_DISCARDED = {
  schema: named('DeadLettersDiscarded', closedPartial(SELECTION)),
  example: { filter: { destinationId: DESTINATION }, dryRun: false },
}

const started = {
  text: 'The id of the job; see GET /v2/replays/{id}.',
  schema: named('StartedReplay', closed({ replayId: Id })),
  examples: { started: { replayId: REPLAY } },
}
const shown = {
  text: 'The job.',
  schema: closed({ replay: REPLAY_SHOWN }),
  examples: { replay: { replay } },
}
const ASKED_WRONGLY = ['ids or filter required', 'Invalid ids', 'Invalid filter', 'Invalid time in from']
const disabled = `Destination with id ${DESTINATION} is disabled`
const letterUnknown = `Dead letter with id ${LETTER} not found`
const replayUnknown = `Replay with id ${REPLAY} not found`

export const LETTER_ACTIONS_IN_WORDS: Record<'replay' | 'discard' | 'replayMany' | 'discardMany', RouteDescription> = {
  replay: {
    tag: 'Dead letters',
    summary: 'Replay a dead letter',
    details: 'Runs all stages again, with the current configuration.',
    access: 'token',
    answers: { 202: started, ...refusals({ 404: [letterUnknown], 409: ['Dead letter is replaying', disabled] }) },
  },
  discard: {
    tag: 'Dead letters',
    summary: 'Discard a dead letter',
    access: 'token',
    answers: {
      204: { text: 'It is never sent; it stays visible for 168 hours.' },
      ...refusals({ 404: [letterUnknown], 409: ['Dead letter is discarded'] }),
    },
  },
  replayMany: {
    tag: 'Dead letters',
    summary: 'Replay many dead letters',
    details: 'Open dead letters of enabled destinations, by ids or by a filter.',
    access: 'token',
    body: LETTERS_REPLAYED,
    answers: { 202: started, ...refusals({ 400: [...ASKED_WRONGLY, 'Invalid rateEventsPerSecond'], 409: [disabled] }) },
  },
  discardMany: {
    tag: 'Dead letters',
    summary: 'Discard many dead letters',
    details: 'Open dead letters, by ids or by a filter.',
    access: 'token',
    body: LETTERS_DISCARDED,
    answers: { 202: started, ...refusals({ 400: ASKED_WRONGLY, 409: ['Too many unfinished replays'] }) },
  },
}

function steering(summary: string, details: string, conflict: string): RouteDescription {
  return {
    tag: 'Replays',
    summary,
    details,
    access: 'token',
    answers: { 200: shown, ...refusals({ 404: [replayUnknown], 409: [conflict] }) },
  }
}

const LOG_REQUEST = {
  schema: named(
    'ReplayWritten',
    closed({
      sourceIds: Type.Array(text, { minItems: 1, maxItems: 10_000 }),
      destinationIds: Type.Array(text, {
        minItems: 1,
        maxItems: 10_000,
        description: 'Each must be connected to each source.',
      }),
      from: Type.String({ description: 'Accepted at or after this time.' }),
      to: Type.String({ description: 'Accepted before this time; events accepted after the call are excluded.' }),
      filter: Type.Optional(
        closedPartial(
          {
            types: Type.Array(oneOf(EVENT_TYPES)),
            events: Type.Array(text, { description: 'Event names as in lists of events.' }),
            userIds: Type.Array(text),
            messageIds: Type.Array(text),
            outcomes: Type.Array(oneOf(FINAL_OUTCOMES), {
              description: 'Outcome of the event at the destination.',
            }),
          },
          { description: 'An empty list matches all.' },
        ),
      ),
      rateEventsPerSecond: Type.Optional(RATE),
      dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only count.' })),
    }),
  ),
  example: {
    sourceIds: [SOURCE],
    destinationIds: [DESTINATION],
    from: '2026-03-03T00:00:00.000Z',
    to: '2026-03-04T00:00:00.000Z',
    filter: { types: ['track'], events: ['Seat Reserved'], userIds: [], messageIds: [], outcomes: ['filtered'] },
    rateEventsPerSecond: 200,
    dryRun: false,
  },
}

export const REPLAYS_IN_WORDS: Record<'create' | 'list' | 'get' | 'pause' | 'resume' | 'cancel', RouteDescription> = {
  create: {
    tag: 'Replays',
    summary: 'Replay a range of the log',
    details:
      'Delivers the events of a time range again, or delivers them to a new destination, with the current filters and ' +
      'configuration. Live events go first. Events that still wait for their first delivery are skipped.',
    access: 'token',
    body: LOG_REQUEST,
    answers: {
      202: shown,
      ...refusals({
        400: [
          'Invalid time in from',
          'from must be before to',
          'Invalid rateEventsPerSecond',
          `Destination with id ${DESTINATION} is not connected to the given sources`,
        ],
        409: [
          disabled,
          ['Range is older than the log', { availableFrom: '2026-02-25T00:00:00.000Z' }],
          ['Range is older than the traces', { availableFrom: '2026-02-25T00:00:00.000Z' }],
        ],
      }),
    },
  },
  list: {
    tag: 'Replays',
    summary: 'List replays, and discards of many dead letters',
    details: 'Newest first; all unfinished jobs, and those finished within the last 168 hours.',
    access: 'token',
    query: {
      limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100 }),
      cursor: Type.String({ description: 'From `paging.next`.' }),
    },
    answers: {
      200: {
        text: 'A page of jobs.',
        schema: listOf('replays', REPLAY_SHOWN),
        examples: { page: { replays: [replay], paging: { total: 1, next: '' } } },
      },
      ...refusals({ 400: ['Invalid limit', 'Invalid cursor'] }),
    },
  },
  get: {
    tag: 'Replays',
    summary: 'Show a replay, or a discard of many dead letters',
    access: 'token',
    answers: { 200: shown, ...refusals({ 404: [replayUnknown] }) },
  },
  pause: steering('Pause a job', 'It takes no more events; events already taken still finish.', 'Replay is done'),
  resume: steering('Resume a paused job', 'It continues where it stopped.', 'Replay is running'),
  cancel: steering(
    'Cancel a job',
    'Calls in flight are aborted; unfinished dead letters are open again.',
    'Replay is done',
  ),
}
