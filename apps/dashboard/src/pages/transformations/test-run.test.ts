import { expect, test } from 'vitest'
import { eventRuns, eventsText, readEvents, readExpected } from './test-run.ts'

test('outputs, drops and errors stand at the events that they are of', () => {
  const events = [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]
  const runs = eventRuns(events, {
    transformedEvents: [
      { input: 0, event: { n: 1, a: true } },
      { input: 0, event: { n: 1, b: true } },
      { input: 1, dropped: true },
      { input: 2, error: 'Timed out' },
    ],
    logs: [],
  })
  expect(runs).toEqual([
    {
      input: events[0],
      outputs: [
        { n: 1, a: true },
        { n: 1, b: true },
      ],
      isDropped: false,
    },
    { input: events[1], outputs: [], isDropped: true },
    { input: events[2], outputs: [], isDropped: false, error: 'Timed out' },
    { input: events[3], outputs: [], isDropped: false },
  ])
})

test.each([
  ['an object is one event', '{"type":"track"}', { events: [{ type: 'track' }] }],
  ['a list is several', '[{"a":1},{"a":2}]', { events: [{ a: 1 }, { a: 2 }] }],
  ['an empty list is none', '[]', { fault: { line: 1 } }],
  ['a number is none', '[1]', { fault: { line: 1 } }],
  ['nothing is no fault', '', {}],
])('%s', (_what, text, expected) => {
  expect(readEvents(text)).toMatchObject(expected)
})

test.each([
  ['an event', '{"a":1}', { events: [{ a: 1 }] }],
  ['several', '[{"a":1},{"a":2}]', { events: [{ a: 1 }, { a: 2 }] }],
  ['nothing comes out', '[]', { events: [] }],
  ['a number is no event', '[1]', { fault: { line: 1 } }],
  ['nothing is written yet', ' ', {}],
])('what a test expects: %s', (_what, text, expected) => {
  expect(readExpected(text)).toMatchObject(expected)
})

test.each([[[{ a: 1 }]], [[{ a: 1 }, { a: 2 }]], [[]]])(
  'what an editor shows reads as the same events: %j',
  (events) => {
    expect(readExpected(eventsText(events))).toEqual({ events })
  },
)
