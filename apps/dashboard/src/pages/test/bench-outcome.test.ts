import type { TestExtras } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { exchanges, type ProcessedResult, type StageState, stageOutcomes, stepsOf } from './bench-outcome.ts'

const ALL = { user_transform: true, dest_transform: true, send_to_destination: true }
const UA = { error: 'error encountered in user_transformation stage. Aborting.' }
const DA = { error: 'error encountered in dest_transformation stage. Aborting.' }
const NONE = { error: 'Transformation VersionID not found' }
const DROPPED = { error: 'event was dropped by the user transformation' }
const EVENT = { type: 'track', event: 'Seat Reserved' }
const STEP = { transformationId: 't', versionId: 'v' }

function result(data: ProcessedResult['data'][0], extras: TestExtras = {}): ProcessedResult {
  return { destinationId: 'd', destination: 'WEBHOOK', destinationName: 'Hook', data: [data], extras }
}

test.each<[string, ProcessedResult['data'][0], TestExtras, [StageState, StageState, StageState]]>([
  [
    'all went well',
    { user_transformed_payload: EVENT, dest_transformed_payload: [], destination_response: [] },
    { steps: [{ ...STEP, output: [EVENT] }], userTransformedEvents: [EVENT] },
    ['ran', 'none', 'none'],
  ],
  [
    'no transformation is attached',
    { user_transformed_payload: NONE, dest_transformed_payload: [{} as never], destination_response: [{}] },
    { steps: [] },
    ['none', 'ran', 'ran'],
  ],
  [
    'a transformation failed',
    { user_transformed_payload: { error: 'Timed out' }, dest_transformed_payload: UA, destination_response: DA },
    { steps: [{ ...STEP, error: 'Timed out' }] },
    ['error', 'aborted', 'aborted'],
  ],
  [
    'a transformation dropped the event',
    { user_transformed_payload: DROPPED, dest_transformed_payload: UA, destination_response: DA },
    { steps: [{ ...STEP, output: [] }] },
    ['dropped', 'aborted', 'aborted'],
  ],
  [
    'the destination made no request',
    {
      user_transformed_payload: EVENT,
      dest_transformed_payload: { error: 'Invalid URL in destination config' },
      destination_response: DA,
    },
    {},
    ['ran', 'error', 'aborted'],
  ],
  [
    'an event that looks like a failure',
    { user_transformed_payload: { error: 'a text' }, dest_transformed_payload: [{} as never] },
    { userTransformedEvents: [{ error: 'a text' }] },
    ['ran', 'ran', 'ran'],
  ],
])('%s', (_what, data, extras, states) => {
  const { user, dest, send } = stageOutcomes(result(data, extras), ALL)
  expect([user.state, dest.state, send.state]).toEqual(states)
})

test('a stage that was not asked for is off', () => {
  const none = { user_transform: false, dest_transform: false, send_to_destination: false }
  expect(stageOutcomes(result({}), none)).toEqual({
    user: { state: 'off' },
    dest: { state: 'off' },
    send: { state: 'off' },
  })
})

test('answers stand at their requests, and alone where the requests were not asked for', () => {
  const request = { method: 'POST' } as never
  const sent = { destination_response: [{ ok: true }], destination_response_status: [202] }
  const extras = { timings: { requests: [{ ms: 12 }] } }
  expect(exchanges(result({ dest_transformed_payload: [request], ...sent }, extras))).toEqual([
    { request, answer: { ok: true }, status: 202, ms: 12 },
  ])
  expect(exchanges(result(sent, extras))).toEqual([{ answer: { ok: true }, status: 202, ms: 12 }])
  expect(exchanges(result({ dest_transformed_payload: DA }))).toEqual([])
})

test('each step is given what the one before made', () => {
  const [first, second] = stepsOf(EVENT, {
    steps: [
      { ...STEP, output: [{ n: 1 }, { n: 2 }] },
      { ...STEP, error: 'Error: no' },
    ],
  })
  expect(first).toMatchObject({ input: [EVENT], output: [{ n: 1 }, { n: 2 }] })
  expect(second).toMatchObject({ input: [{ n: 1 }, { n: 2 }], output: [], error: 'Error: no' })
})
