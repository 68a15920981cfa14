import type { EventTrace, Journey } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { renderedJourney, renderedToday } from './rendered-journey.ts'

const journey = (destinationId: string, replayId: string | null, versions?: 'recorded' | 'today') =>
  ({
    destinationId,
    replayId,
    outcome: 'delivered',
    requests: [],
    ...(versions === undefined ? {} : { rendered: { versions, steps: [], requests: [] } }),
  }) as unknown as Journey

/** As GET /v2/events/{messageId}?render=d1 answers: beside `requests` of each journey of that destination. */
const EVENTS = [
  { position: '0-1-0', destinations: [journey('d1', null, 'today')] },
  {
    position: '0-2-0',
    destinations: [journey('d0', null), journey('d1', null, 'recorded'), journey('d1', 'r', 'today')],
  },
] as unknown as EventTrace[]

test.each([
  ['of the event that is meant', '0-1-0', 'd1', null, 'today'],
  ['of the journey that is meant', '0-2-0', 'd1', null, 'recorded'],
  ['of its replay', '0-2-0', 'd1', 'r', 'today'],
  ['nothing of a destination that was not asked for', '0-2-0', 'd0', null, undefined],
  ['nothing of an event that is gone', '0-3-0', 'd1', null, undefined],
])('what was made again is read beside the requests: %s', (_what, position, destinationId, replayId, versions) => {
  expect(renderedJourney(EVENTS, position, { destinationId, replayId })?.versions).toBe(versions)
})

test('a run of the Test API has the same form', () => {
  const request = { method: 'POST' } as never
  const ran = {
    destinationId: 'd1',
    destination: 'WEBHOOK',
    destinationName: 'Hook',
    data: [{ dest_transformed_payload: [request] }, { dest_transformed_payload: { error: 'no URL' } }],
    extras: {
      steps: [
        { transformationId: 't1', versionId: 'v1', output: [{ n: 1 }] },
        { transformationId: 't2', versionId: 'v2', error: 'Timed out' },
      ],
    },
  }
  expect(renderedToday(ran)).toEqual({
    versions: 'today',
    steps: [
      { transformationId: 't1', versionId: 'v1', output: [{ n: 1 }], error: null },
      { transformationId: 't2', versionId: 'v2', output: [], error: 'Timed out' },
    ],
    requests: [request],
  })
})
