import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ByteCollector } from './byte-collector.ts'

function collected(pieces: readonly Buffer[]): ByteCollector {
  const bytes = new ByteCollector()
  for (const piece of pieces) bytes.add(piece)
  return bytes
}

test.each<[string, number[]]>([
  ['nothing', []],
  ['empty pieces', [0, 0]],
  ['one small piece', [1]],
  ['small pieces beyond the largest block', Array.from({ length: 300 }, (_, i) => i * 7)],
  ['pieces around the limit of small ones', [4_095, 4_095, 4_096, 4_095, 4_097, 0, 1]],
  ['a small and a large piece in turn', Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 1 : 5_000))],
  ['large pieces', [65_536, 65_536, 70_000]],
])('joins %s in order', (_, sizes) => {
  const pieces = sizes.map((size) => randomBytes(size))
  const bytes = collected(pieces)
  expect(bytes.whole().equals(Buffer.concat(pieces))).toBe(true)
  bytes.add(Buffer.from('more'))
  expect(bytes.whole().equals(Buffer.concat([...pieces, Buffer.from('more')]))).toBe(true)
})

test('does not copy a single large piece', () => {
  const piece = randomBytes(4_096)
  expect(collected([piece]).whole()).toBe(piece)
})

test('does not keep small pieces, which the caller may change', () => {
  const piece = Buffer.from('a')
  const bytes = collected([piece])
  piece.fill('b')
  expect(bytes.whole().toString()).toBe('a')
})

test('holds nothing after clear', () => {
  const bytes = collected([Buffer.from('a'), randomBytes(5_000), Buffer.from('b')])
  bytes.clear()
  expect(bytes.whole().length).toBe(0)
  bytes.add(Buffer.from('c'))
  expect(bytes.whole().toString()).toBe('c')
})
