import { encodedSize, encodeRecord, messageHash } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { BatchAttempt, DedupRule } from '../dedup.ts'
import { KeyMemory } from './key-memory.ts'
import { ShardKeys } from './shard-keys.ts'

const AT = 1_772_615_731_900
const HOUR: DedupRule = { windowMs: 3_600_000 }
const attempt = (kind: BatchAttempt): DedupRule => ({ attempt: kind })

function encoded(acceptedAt: number, messageIds: readonly string[], sourceId = 'source-a') {
  const record = testRecord(sourceId, 'note')
  const messageHashes = Buffer.concat(messageIds.map((id) => messageHash(id)))
  const changed = { ...record, header: { ...record.header, acceptedAt, messageHashes } }
  const bytes = Buffer.alloc(encodedSize(changed))
  encodeRecord(changed, bytes, 0)
  return bytes
}

let offset = 0
function decide(keys: ShardKeys, seconds: number, messageIds: readonly string[], rule = HOUR, sourceId?: string) {
  return keys.decide(offset++, { bytes: encoded(AT + seconds * 1_000, messageIds, sourceId), rule })
}

test('an owner that restores the stored keys decides as the earlier one would have, windows and attempts', () => {
  const earlier = new ShardKeys(new KeyMemory())
  expect(decide(earlier, 0, ['a', 'b', 'a'])).toEqual([2])
  expect(decide(earlier, 10, ['x', 'y'], attempt('exit'))).toEqual([])
  expect(decide(earlier, 11, ['z'], attempt('first'))).toEqual([])
  const parts = earlier.takeUnstored()
  expect(earlier.takeUnstored()).toEqual([])
  expect(decide(earlier, 12, ['y', 'new'], attempt('repeat'))).toEqual([0])
  expect(decide(earlier, 20, ['b', 'c'])).toEqual([0])
  parts.push(...earlier.takeUnstored())

  const later = new ShardKeys(new KeyMemory())
  for (const part of parts) later.restore(part)
  const cases: [seconds: number, ids: string[], rule: DedupRule, duplicates: number[]][] = [
    [30, ['a', 'b', 'c', 'd'], HOUR, [0, 1, 2]],
    [31, ['x', 'y', 'z', 'new', 'other'], attempt('repeat'), [0, 1, 2, 3]],
    // A first attempt that comes later than its repeat.
    [32, ['new', 'own'], attempt('exit'), [0]],
    [3_599.9, ['a'], HOUR, [0]],
    [3_600, ['a', 'c'], HOUR, [1]],
  ]
  for (const keys of [earlier, later]) {
    for (const [seconds, ids, rule, duplicates] of cases) {
      expect([ids, decide(keys, seconds, ids, rule)]).toEqual([ids, duplicates])
    }
  }
})

test('keys that could not be stored are taken again, before later ones', () => {
  const keys = new ShardKeys(new KeyMemory())
  decide(keys, 0, ['a'])
  const first = keys.takeUnstored()
  decide(keys, 1, ['b'])
  keys.putBack(first)
  expect(keys.unstoredBytes).toBe(32)
  const [part] = keys.takeUnstored()
  expect(Buffer.from(part!.entries.subarray(0, 16))).toEqual(Buffer.from(first[0]!.entries))
  expect(part).toMatchObject({ kind: 'window', lastAt: AT + 1_000 })
})

test('all shards of a process share one limit: the oldest key leaves, whichever shard it belongs to', () => {
  const memory = new KeyMemory(() => 1_000)
  const [one, other] = [new ShardKeys(memory), new ShardKeys(memory)]
  const ids = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`)
  decide(one, 0, ids('one', 600))
  decide(other, 1, ids('other', 600))
  expect(memory.size('window')).toBe(1_000)
  const all = Array.from({ length: 600 }, (_, i) => i)
  // The 200 oldest keys are gone.
  expect(decide(one, 2, ids('one', 600).slice(200))).toEqual(all.slice(0, 400))
  expect(decide(other, 3, ids('other', 600))).toEqual(all)
  expect(decide(one, 4, ['one-0'])).toEqual([])
  one.drop()
  expect(memory.size('window')).toBe(600)
  expect(decide(other, 5, ids('more', 400))).toEqual([])
  expect(memory.size('window')).toBe(1_000)
  expect(decide(other, 6, ids('other', 600))).toEqual(all)
})

test('a window that other windows made small still finds its keys', () => {
  const memory = new KeyMemory(() => 20_000)
  const [one, other] = [new ShardKeys(memory), new ShardKeys(memory)]
  const ids = (name: string, from: number, to: number) => {
    return Array.from({ length: to - from }, (_, i) => `${name}-${from + i}`)
  }
  decide(one, 0, ids('one', 0, 20_000))
  decide(other, 1, ids('other', 0, 18_000))
  expect(decide(one, 2, ids('one', 18_000, 20_000))).toHaveLength(2_000)
  expect(decide(one, 2, ['one-17999'])).toEqual([])
  expect(memory.size('window')).toBe(20_000)
})
