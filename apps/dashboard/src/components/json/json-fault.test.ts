import { expect, test } from 'vitest'
import { jsonFault } from './json-fault.ts'

test.each([
  ['a word', '{\n  "type": x\n}', 2, 11],
  ['a comma too many', '{"a": [1,\n2,\n]}', 3, 1],
  ['a comma too few', '{"a": 1\n "b": 2}', 2, 2],
  ['a name without quotes', '{\n\n  a: 1}', 3, 3],
  ['a text that breaks off', '{\n  "type":\n', 3, 1],
  ['something behind the end', '{}\n{}', 2, 1],
  ['a line break in a string', '{"a": "x\ny"}', 1, 7],
])('%s is told with its place', (_what, text, line, column) => {
  expect(jsonFault(text)).toMatchObject({ line, column, message: expect.any(String) })
})

test('the text of a fault has no place of its own', () => {
  expect(jsonFault('{"a": 1\n "b": 2}')?.message).toBe("Expected ',' or '}' after property value")
})

test('JSON has no fault', () => {
  expect(jsonFault(' {"a": [1.5e3, -0, "\\u00e9\\n", true, null, {}, []]} ')).toBeUndefined()
})
