import { expect, test } from 'vitest'
import { readMessage } from './message-text.ts'

test.each([
  ['an object is a message', '{"type":"track"}', { message: { type: 'track' } }],
  ['nothing is no fault', '  \n', {}],
  ['a list is none', '[]', { fault: { line: 1, column: 1 } }],
  ['a fault is told with its place', '{\n  "type": x\n}', { fault: { line: 2, column: 11 } }],
])('%s', (_what, text, expected) => {
  expect(readMessage(text)).toMatchObject(expected)
})
