import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { framedRecords, type OffsetRange, SqliteEventLog } from '@millrace/log'
import { ENRICHMENT_RULES } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { LogBudget } from './log-budget.ts'

const record = {
  header: {
    sourceId: 's1',
    route: 'batch',
    acceptedAt: 0,
    clientAddress: '203.0.113.9',
    seed: new Uint8Array(16),
    rules: ENRICHMENT_RULES,
    policySet: 0,
    messageHashes: new Uint8Array(8),
  },
  body: Buffer.from('{"batch":[{"type":"track"}]}'),
} as const

test('a segment is deleted early only after the events of every partition were copied', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'millrace-log-budget-'))
  using folder = new DisposableStack()
  folder.defer(() => rmSync(directory, { recursive: true }))
  const clock = new ManualClock(0)
  await using log = await SqliteEventLog.open({ directory, clock, partitions: 3, cacheBytes: 0 })
  for (let i = 0; i < 9; i++) await log.append(i % 3, 'live', record)
  const end = await log.closeNewest()
  // Everything is finished, so every partition allows the deletion in a week. Then a replay begins.
  for (let partition = 0; partition < 3; partition++) await log.retain(partition, end, 7 * 86_400_000)
  while ((await log.oldestUnit()) === undefined);
  const copied: number[] = []
  const budget = new LogBudget({
    ...{ log, clock, maxBytes: 1, isDiskShort: undefined },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    readUpTo: async () => [end, end, end],
    async keepUnfinished(partition: number, { from, to }: OffsetRange) {
      const { frames } = await log.scan(partition, from, 1_000_000)
      const offsets = [...framedRecords(frames)].map(({ offset }) => offset).filter((offset) => offset < to)
      copied.push(...offsets)
      return offsets.length
    },
  })
  budget.start()
  await clock.advance(5_000)
  await budget.stop()
  expect(copied.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(await log.deletedBefore()).toBe(end)
})
