import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ReleasingMap } from './releasing-map.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void

const ENTRIES = 4_000
const VALUE_BYTES = 8_000
const MB = 1024 * 1024

test('values that were removed do not stay in memory until the next full collection', () => {
  const map = new ReleasingMap<number, unknown[]>()
  map.add(-1, [])
  // Now the map is among the old objects, as that of a server that has run for a while.
  collect()
  const before = process.memoryUsage().heapUsed
  for (let key = 0; key < ENTRIES; key++) {
    map.add(key, new Array(VALUE_BYTES / 8).fill(key))
    if (key >= 10) map.take(key - 10)
    if (key % 100 === 0) collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  const grown = process.memoryUsage().heapUsed - before
  // Of 32 MB; a Map kept 16.
  expect(grown).toBeLessThan(4 * MB)
  expect(map.size).toBe(11)
})

test('values are found by their keys, in the order in which they were added, until they are taken', () => {
  const map = new ReleasingMap<string, number>()
  map.add('a', 1)
  map.add('b', 2)
  map.add('c', 3)
  expect(map.take('b')).toBe(2)
  expect([map.take('b'), map.get('b'), map.has('b')]).toEqual([undefined, undefined, false])
  map.add('b', 4)
  expect([map.get('c'), map.has('b')]).toEqual([3, true])
  expect([...map]).toEqual(Object.entries({ a: 1, c: 3, b: 4 }))
  const seen: number[] = []
  for (const value of map.values()) {
    seen.push(value)
    map.take(value === 1 ? 'c' : 'b')
  }
  expect(seen).toEqual([1, 4])
  expect(map.takeAll()).toEqual([1])
  expect(map.size).toBe(0)
})
