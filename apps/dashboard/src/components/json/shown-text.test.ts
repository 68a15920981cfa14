import { expect, it } from 'vitest'
import { firstLine, jsonText, shownText } from './shown-text.ts'

it('marks that turn or hide text are to be seen', () => {
  expect(shownText('abc\u202edcba\u200b\u0007')).toBe('abc\\u202edcba\\u200b\\u0007')
})

it('what people write stays as it is', () => {
  for (const text of ['Café – 日本語 🎟', 'line\nline\tcell', '<img onerror=1>']) expect(shownText(text)).toBe(text)
})

it('the shown JSON is the same value', () => {
  const value = { name: 'a\u202eb', list: [1, null, { deep: '\u2066' }], '\u200bkey': true }
  const text = jsonText(value)
  expect(text).not.toMatch(/[\u202e\u2066\u200b]/)
  expect(JSON.parse(text)).toEqual(value)
})

it('of a failure of user code the first line says what failed', () => {
  expect(firstLine('TypeError: no price\n    at transformEvent (base transformation:4:33)')).toBe('TypeError: no price')
  expect(firstLine('retry limit reached')).toBe('retry limit reached')
})
