import { expect, test } from 'vitest'
import type { CatalogRecord } from '../thread/catalog-log.ts'
import type { PartToCount } from './counter-calls.ts'
import { recordsToCount } from './records-to-count.ts'

const part: PartToCount = {
  partition: 1,
  stream: 'live',
  from: 10,
  frames: new Uint8Array(),
  next: 14,
  duplicates: new Map([[12, [0, 2]]]),
}

test('records are counted as far as their owner has decided, with the duplicates that it found', () => {
  const { records, next, trouble } = recordsToCount(part, () => [10, 12, 13, 14, 15].map((offset) => recordAt(offset)))
  expect(records.map(({ offset, duplicates }) => [offset, duplicates && [...duplicates]])).toEqual([
    [10, undefined],
    [12, [0, 2]],
    [13, undefined],
  ])
  expect([next, trouble]).toEqual([14, undefined])
})

test('a record that cannot be read is never passed over', () => {
  function* unreadable(after: readonly number[]) {
    yield* after.map((offset) => recordAt(offset))
    throw new Error('record format 9')
  }
  const some = recordsToCount(part, () => unreadable([10, 11]))
  expect([some.records.length, some.next, some.trouble]).toEqual([2, 12, 'record format 9'])
  const none = recordsToCount(part, () => unreadable([]))
  expect([none.records.length, none.next, none.trouble]).toEqual([0, 10, 'record format 9'])
})

function recordAt(offset: number): CatalogRecord {
  return { offset } as CatalogRecord
}
