import { JOB_STATES, STAGES } from '@millrace/delivery'
import {
  closed,
  closedPartial,
  Id,
  listOf,
  named,
  oneOf,
  type RouteDescription,
  refusals,
  Time,
  Type,
} from '@millrace/openapi'
import { MAX_LIMIT } from '../query.ts'

const LETTER = '3EXM1nH9JtMJ06hF5WfzRPot1LW'
const REPLAY = '37A4poI9SaefdDdDQ6BJiCpwwUV'
const DESTINATION = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const count = Type.Integer({ minimum: 0 })
const timeOrNull = Type.Union([Time, Type.Null()])

const REPLAY_SHOWN = named(
  'Replay',
  closed({
    id: Id,
    kind: oneOf(['replay', 'discard'], { description: 'What is done with the dead letters.' }),
    dryRun: Type.Boolean({ description: 'It only counts.' }),
    state: oneOf(JOB_STATES),
    matched: Type.Union([count, Type.Null()], { description: 'null until counted.' }),
    taken: count,
    delivered: count,
    filtered: count,
    deadLettered: Type.Integer({ minimum: 0, description: 'Given up again; they are open again.' }),
    discarded: count,
    sourceIds: Type.Array(Type.String()),
    destinationIds: Type.Array(Id, { description: 'Those of the dead letters that are meant.' }),
    from: timeOrNull,
    to: timeOrNull,
    createdBy: Type.String(),
    createdAt: Time,
    finishedAt: timeOrNull,
  }),
)

const replay = {
  id: REPLAY,
  kind: 'replay',
  dryRun: false,
  state: 'running',
  matched: 5120,
  taken: 400,
  delivered: 391,
  filtered: 0,
  deadLettered: 2,
  discarded: 0,
  sourceIds: [],
  destinationIds: [DESTINATION],
  from: null,
  to: null,
  createdBy: 'ops@cinema.example',
  createdAt: '2026-03-05T10:00:00.000Z',
  finishedAt: null,
}

const text = Type.String()
const SELECTION = {
  schema: closedPartial({
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
        from: Type.String({ description: 'Given up at or after this time.' }),
        to: Type.String({ description: 'Given up before this time.' }),
      },
      { description: 'Not empty; `{"state": "open"}` means all.' },
    ),
    dryRun: Type.Boolean({ default: false }),
  }),
  example: { filter: { destinationId: DESTINATION }, dryRun: false },
}

const started = {
  text: 'The id of the job: GET /v2/replays/{id} shows it.',
  schema: closed({ replayId: Id }),
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

/** @see contracts/delivery.md §6 [D617] */
export const LETTER_ACTIONS_IN_WORDS: Record<'replay' | 'discard' | 'replayMany' | 'discardMany', RouteDescription> = {
  replay: {
    tag: 'Dead letters',
    summary: 'Replay a dead letter',
    details: 'From the beginning of the destination’s path, with its configuration of today.',
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
    details: 'Open ones of enabled destinations, those named or those that a filter finds.',
    access: 'token',
    body: SELECTION,
    answers: { 202: started, ...refusals({ 400: ASKED_WRONGLY, 409: [disabled] }) },
  },
  discardMany: {
    tag: 'Dead letters',
    summary: 'Discard many dead letters',
    details: 'Open ones, those named or those that a filter finds.',
    access: 'token',
    body: SELECTION,
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

/** @see contracts/delivery.md §7 [D620] */
export const REPLAYS_IN_WORDS: Record<'list' | 'get' | 'pause' | 'resume' | 'cancel', RouteDescription> = {
  list: {
    tag: 'Replays',
    summary: 'List jobs over dead letters',
    details: 'Newest first; those that finished within the last 168 hours, and all that have not.',
    access: 'token',
    query: {
      limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100 }),
      cursor: Type.String({ description: 'As it stands in `paging.next`.' }),
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
    summary: 'Show a job over dead letters',
    access: 'token',
    answers: { 200: shown, ...refusals({ 404: [replayUnknown] }) },
  },
  pause: steering('Pause a job', 'It takes up nothing more; what it has taken up goes on.', 'Replay is done'),
  resume: steering('Resume a paused job', 'It goes on where it was.', 'Replay is running'),
  cancel: steering(
    'Cancel a job',
    'Calls under way are aborted; what is not finished is open again.',
    'Replay is done',
  ),
}
