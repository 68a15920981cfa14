import { expect, it } from 'vitest'
import { jsonTokens } from './json-tokens.ts'

it('names keys, strings, numbers and words, and loses nothing', () => {
  const text = JSON.stringify({ 'a"b': 'x: "y"', n: -1.5e-7, list: [true, null, 12], s: 'true 5' }, null, 2)
  const tokens = jsonTokens(text)
  expect(tokens.map((token) => token.text).join('')).toBe(text)
  const of = (kind: string) => tokens.filter((token) => token.kind === kind).map((token) => token.text)
  expect(of('key')).toEqual(['"a\\"b"', '"n"', '"list"', '"s"'])
  expect(of('string')).toEqual(['"x: \\"y\\""', '"true 5"'])
  expect(of('number')).toEqual(['-1.5e-7', '12'])
  expect(of('word')).toEqual(['true', 'null'])
})
