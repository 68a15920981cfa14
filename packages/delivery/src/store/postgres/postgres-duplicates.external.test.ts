import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { NOW } from '../conformance/store-place.ts'
import type { KeyPart, ShardDecisions } from '../duplicate-store.ts'
import { FencedError } from '../shard-fence.ts'
import { DAY_MS } from './day-tables.ts'
import { PostgresStoredDuplicates } from './postgres-duplicates.ts'
import { deliveryTestSchema, HeldShards, openStore, setEpoch } from './testing/store-under-test.ts'

const key = (kind: string, lastAt: number, text: string): KeyPart => {
  return { kind, lastAt, entries: Buffer.from(text) }
}

function decisions(shard: number, offset: number, change: Partial<ShardDecisions> = {}): ShardDecisions {
  return { shard, positions: [[shard, offset]], duplicates: [], keys: [], ...change }
}

async function keysOf(store: Awaited<ReturnType<typeof openStore>>['store'], shard: number, since = 0) {
  const found: string[] = []
  for await (const rows of store.duplicates.keys({ shard, since })) {
    found.push(...rows.map(({ kind, entries }) => `${kind} ${Buffer.from(entries)}`))
  }
  return found
}

test('decisions are found again: duplicates by offset, places, and keys newest first', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('duplicates'))
  await using opened = await openStore(schema, { clock: new ManualClock(NOW) })
  const { store, pool } = opened
  const indexes = new Uint8Array(Uint16Array.from([1, 3]).buffer)
  const at = (offset: number) => ({ partition: 0, offset, indexes })
  await store.duplicates.write([
    decisions(0, 7, { duplicates: [at(4), at(6)], keys: [key('window', NOW, 'w1'), key('exit', NOW, 'e1')] }),
    decisions(1, 9),
  ])
  await store.duplicates.write([decisions(0, 20, { duplicates: [at(12)], keys: [key('window', NOW + 5, 'w2')] })])
  // A write that is repeated because its answer was lost changes no decision.
  await store.duplicates.write([decisions(0, 20, { duplicates: [at(12)] })])

  const stored = new PostgresStoredDuplicates(pool)
  expect([...(await stored.of(0, [3, 4, 12, 13]))]).toEqual([
    [4, Buffer.from(indexes)],
    [12, Buffer.from(indexes)],
  ])
  expect([...(await stored.of(1, [4]))]).toEqual([])
  expect(await stored.decidedTo()).toEqual(
    new Map([
      [0, 20],
      [1, 9],
    ]),
  )
  expect(await stored.decisions(0, 5, 30)).toEqual({
    to: 20,
    duplicates: new Map([
      [6, [1, 3]],
      [12, [1, 3]],
    ]),
  })
  expect(await stored.decisions(0, 5, 10)).toEqual({ to: 10, duplicates: new Map([[6, [1, 3]]]) })
  expect(await stored.decisions(2, 5, 10)).toEqual({ to: 5, duplicates: new Map() })
  expect((await store.duplicates.newest({ partition: 0, limit: 2 })).map(([offset]) => offset)).toEqual([6, 12])
  expect(await keysOf(store, 0)).toEqual(['window w2', 'exit e1', 'window w1'])
  expect(await keysOf(store, 0, NOW + 1)).toEqual(['window w2'])
  expect(await keysOf(store, 1)).toEqual([])
})

test('many parts of keys come in their order', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('duplicates_many'))
  await using opened = await openStore(schema)
  const { store } = opened
  const keys = Array.from({ length: 650 }, (_, i) => key('window', NOW + i, `${i}`))
  await store.duplicates.write([decisions(0, 1, { keys })])
  expect(await keysOf(store, 0)).toEqual(keys.map((_, i) => `window ${649 - i}`))
})

test('under a lost epoch nothing is written, of no shard', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('duplicates_fence'))
  const fence = new HeldShards([
    [0, 1],
    [1, 1],
  ])
  await using opened = await openStore(schema, { fence })
  const { store, pool } = opened
  await setEpoch(pool, 0, 1)
  await setEpoch(pool, 1, 2)
  const write = () => store.duplicates.write([decisions(0, 5, { keys: [key('window', NOW, 'x')] }), decisions(1, 5)])
  await expect(write()).rejects.toBeInstanceOf(FencedError)
  expect(fence.fenced).toEqual([1])
  expect([await keysOf(store, 0), await store.duplicates.decidedTo()]).toEqual([[], new Map()])
  await setEpoch(pool, 1, 1)
  fence.epochs.set(1, 1)
  await write()
  expect(await keysOf(store, 0)).toEqual(['window x'])
})

test('housekeeping drops duplicates whose records are gone, and keys that no window needs', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('duplicates_tidy'))
  const clock = new ManualClock(NOW)
  await using opened = await openStore(schema, { clock })
  const { store } = opened
  const indexes = new Uint8Array(2)
  const duplicates = [3, 8].map((offset) => ({ partition: 0, offset, indexes }))
  await store.duplicates.write([decisions(0, 9, { duplicates, keys: [key('window', NOW, 'old')] })])
  await clock.advance(2 * DAY_MS)
  await store.duplicates.write([decisions(0, 9, { keys: [key('window', NOW, 'new')] })])
  const tidy = () => store.tidy({ finalBefore: 0, logOldest: [{ partition: 0, offset: 8 }], maxBytes: 1e9 })
  await tidy()
  expect([...(await store.duplicates.of(0, [3, 8])).keys()]).toEqual([8])
  expect(await keysOf(store, 0)).toEqual(['window new', 'window old'])
  await clock.advance(DAY_MS)
  await tidy()
  expect(await keysOf(store, 0)).toEqual(['window new'])
})
