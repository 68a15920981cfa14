import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { ChunkCache } from './chunk-cache.ts'
import { indexFrom, type RecordChunk } from './record-chunk.ts'

test('an offset is found in the chunk that holds it, in its partition only', () => {
  const cache = new ChunkCache(1_000)
  const [first, second] = [chunk(0, 10), chunk(20, 30)]
  cache.add(1, second)
  cache.add(1, first)
  expect([0, 9, 10, 19, 20, 29, 30].map((offset) => cache.find(1, offset))).toEqual([
    first,
    first,
    undefined,
    undefined,
    second,
    second,
    undefined,
  ])
  expect(cache.find(0, 5)).toBeUndefined()
  cache.drop(1)
  expect(cache.find(1, 5)).toBeUndefined()
})

test('the chunk that was used longest ago leaves first, and never more bytes stay than allowed', () => {
  const cache = new ChunkCache(30)
  for (const [partition, from] of [0, 10, 20].entries()) cache.add(partition, chunk(from, from + 10))
  cache.find(0, 5)
  cache.add(3, chunk(30, 40))
  expect([0, 1, 2, 3].map((partition) => cache.find(partition, partition * 10) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  cache.add(4, chunk(0, 31))
  expect([0, 1, 2, 3, 4].map((partition) => cache.find(partition, partition * 10))).toEqual(
    [0, 1, 2, 3, 4].map(() => undefined),
  )
})

test('overlapping chunks: whatever is found holds the offset, and no byte is counted twice', () => {
  const seed = Date.now()
  const random = randomFrom(seed)
  const cache = new ChunkCache(400_000)
  for (let i = 0; i < 1_000; i++) {
    const from = Math.floor(random() * 300)
    const added = chunk(from, from + 1 + Math.floor(random() * 40), 2_000)
    cache.add(0, added)
    const found = Array.from({ length: 400 }, (_, offset) => cache.find(0, offset))
    const wrong = found.findIndex((each, offset) => each !== undefined && (offset < each.from || offset >= each.next))
    const held = [...new Set(found)].reduce((sum, each) => sum + (each?.bytes ?? 0), 0)
    expect([seed, i, wrong, held <= 400_000, found[from]?.next]).toEqual([seed, i, -1, true, added.next])
  }
})

test('small chunks that follow each other are joined, up to 64 KB', () => {
  const cache = new ChunkCache(1_000_000)
  for (let offset = 0; offset < 100; offset++) cache.add(0, chunk(offset, offset + 1, 1_024))
  expect(cache.find(0, 10)).toBe(cache.find(0, 63))
  expect(cache.find(0, 10)?.records.map(({ offset }) => offset)).toEqual(Array.from({ length: 64 }, (_, i) => i))
  expect(cache.find(0, 64)).toMatchObject({ from: 64, next: 100 })
})

test('the first record at or after an offset', () => {
  const gaps = { ...chunk(5, 20), records: [5, 8, 9, 15].map((offset) => ({ offset, bytes: new Uint8Array(1) })) }
  expect([0, 5, 6, 8, 9, 10, 15, 16].map((offset) => indexFrom(gaps, offset))).toEqual([0, 0, 1, 1, 2, 3, 3, 4])
})

function chunk(from: number, next: number, recordBytes = 1): RecordChunk {
  const bytes = new Uint8Array(recordBytes)
  const records = Array.from({ length: next - from }, (_, i) => ({ offset: from + i, bytes }))
  return { from, next, records, bytes: records.length * recordBytes }
}
