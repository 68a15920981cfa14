import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import type { Span } from '../span-store.ts'
import { configurationSpans, writeConfigurationSpans } from './configuration-spans.ts'
import { deliveryTestSchema, HeldShards, openStore, setEpoch } from './testing/store-under-test.ts'

const span = (resource: string, partition: number, fromOffset: number, toOffset: number | null = null): Span => {
  return { kind: 'connection', resource, sourceId: 's1', destinationId: 'd1', partition, fromOffset, toOffset }
}

test('spans are read with the revision and the ends that they belong to, as they were written with them', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('spans'))
  await using pool = schema.pool()
  expect(await configurationSpans(pool)).toEqual({ revision: 0, ends: [], spans: [] })
  let isEnded = false
  const write = async () => {
    for (let revision = 1; revision <= 50; revision++) {
      const ends = [revision * 10, revision * 10 + 1]
      const put = ends.map((end, partition) => span(`c${revision}`, partition, end))
      await pool.transaction((queries) =>
        writeConfigurationSpans(queries, { revision, ends, changeOf: () => ({ put, remove: [] }) }),
      )
    }
    isEnded = true
  }
  const written = write()
  while (!isEnded) {
    const { revision, ends, spans } = await configurationSpans(pool)
    expect(spans.length).toBe(revision * 2)
    if (revision > 0) expect(ends).toEqual([revision * 10, revision * 10 + 1])
  }
  await written
  expect((await configurationSpans(pool)).spans.find(({ resource }) => resource === 'c3')).toEqual(span('c3', 0, 30))
})

test('a transaction that fails leaves spans and revision as they were', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('spans_undone'))
  await using pool = schema.pool()
  const change = { revision: 1, ends: [5], changeOf: () => ({ put: [span('c1', 0, 5)], remove: [] }) }
  const failed = pool.transaction(async (queries) => {
    await writeConfigurationSpans(queries, change)
    throw new Error('the configuration was refused')
  })
  await expect(failed).rejects.toThrow('refused')
  expect(await configurationSpans(pool)).toEqual({ revision: 0, ends: [], spans: [] })
})

test('a removed connection ends where the log ended; each owner drops the spans of its partitions', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('spans_removed'))
  await using opened = await openStore(schema, { fence: new HeldShards([[1, 1]]) })
  const { store, pool } = opened
  for (const shard of [0, 1]) await setEpoch(pool, shard, 1)
  const write = (revision: number, ends: number[], put: Span[], remove: { kind: 'connection'; resource: string }[]) =>
    pool.transaction((queries) =>
      writeConfigurationSpans(queries, { revision, ends, changeOf: () => ({ put, remove }) }),
    )
  await write(1, [5, 7], [span('c1', 0, 1, 2), span('c1', 0, 5), span('c1', 1, 7)], [])
  const removed = [{ kind: 'connection', resource: 'c1' }] as const
  await write(2, [9, 9], [], [...removed])
  const ended = [span('c1', 0, 1, 2), span('c1', 0, 5, 9), span('c1', 1, 7, 9)]
  const sorted = async () => {
    const { spans } = await configurationSpans(pool)
    return spans.toSorted((a, b) => a.partition - b.partition || a.fromOffset - b.fromOffset)
  }
  expect(await sorted()).toEqual(ended)
  // A later change, before the owners were there, moves nothing.
  await write(3, [20, 20], [], [...removed])
  expect(await sorted()).toEqual(ended)
  await store.spans.drop(ended.filter(({ partition }) => partition === 1))
  expect(await sorted()).toEqual(ended.slice(0, 2))
})
