import type { JsonValue } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { boundedDiff } from './bounded-diff.ts'

const line = (from: JsonValue, path = '/a') => ({ path, from, to: null, secretChanged: true as const })

test.each<[string, JsonValue, JsonValue]>([
  ['a text of 1,000 characters', 'x'.repeat(1_000), 'x'.repeat(1_000)],
  ['a longer text', 'x'.repeat(1_001), `${'x'.repeat(1_000)}…`],
  ['a short list', [1, { a: null }], [1, { a: null }]],
  ['a long list', Array<number>(600).fill(7), `[${'7,'.repeat(500).slice(0, 999)}…`],
  ['nothing', null, null],
])('%s', (_, value, kept) => {
  expect(boundedDiff([line(value)])).toEqual([line(kept)])
})

test('a long path is cut', () => {
  expect(boundedDiff([line(1, `/${'p'.repeat(5_000)}`)])[0]!.path).toBe(`/${'p'.repeat(999)}…`)
})

test('200 lines are kept, the others counted', () => {
  const lines = Array.from({ length: 203 }, (_, n) => line(n))
  expect(boundedDiff(lines.slice(0, 200))).toEqual(lines.slice(0, 200))
  expect(boundedDiff(lines)).toEqual([...lines.slice(0, 200), { path: '/leftOut', from: null, to: 3 }])
})
