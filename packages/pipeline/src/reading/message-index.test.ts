import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

test.each([1, 3])(
  'messageIds are found on both sides of a chunk, in both streams, %i partitions',
  async (partitions) => {
    const sources = ['s1', 's2', 's3']
    await using run = await PipelineUnderTest.start({ log: new MemoryEventLog(partitions), sources })
    for (const source of sources) {
      for (const stream of ['live', 'backfill'] as const) {
        const prefix = `${source}-${stream}`
        await run.accept(
          tracks(4_095, () => '', `${prefix}-a`),
          { source, stream },
        )
        await run.accept(
          tracks(2, () => '', `${prefix}-b`),
          { source, stream },
        )
        await run.accept(
          tracks(10, () => '', `${prefix}-c`),
          { source, stream },
        )
        await run.settle()
      }
    }
    const check = async () => {
      for (const source of sources) {
        for (const stream of ['live', 'backfill']) {
          for (const id of ['a-0', 'a-4094', 'b-0', 'b-1', 'c-0', 'c-9']) {
            const messageId = `${source}-${stream}-${id}`
            expect(await run.delivery.trace(messageId), messageId).toMatchObject([{ messageId, sourceId: source }])
          }
        }
      }
      expect(await run.delivery.trace('s1-live-d-0')).toEqual([])
    }
    await check()
    await run.restart()
    await check()
    await run.accept([track('newest')])
    await run.crash()
    await check()
    expect(await run.delivery.trace('newest')).toHaveLength(1)
  },
)

test('what a crash kept from being indexed is read from the log again', async () => {
  await using run = await PipelineUnderTest.start()
  await run.send(...tracks(100))
  await run.crash(async () => {
    await run.accept(tracks(100, () => '', 'down'))
    await run.accept(
      tracks(100, () => '', 'backfill'),
      { stream: 'backfill' },
    )
  })
  for (const id of ['m-0', 'm-99', 'down-99', 'backfill-99']) {
    expect(await run.delivery.trace(id), id).toHaveLength(1)
  }
})

test('a chunk that cannot be written is found all the same, and written with the next', async () => {
  await using run = await PipelineUnderTest.start()
  const { DatabaseSync } = await import('node:sqlite')
  const other = new DatabaseSync(run.file, { timeout: 5_000 })
  other.exec("CREATE TRIGGER full BEFORE INSERT ON message_hashes BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
  await run.accept(tracks(4_096, () => '', 'a'))
  await run.settle()
  expect(await run.delivery.trace('a-17')).toHaveLength(1)
  other.exec('DROP TRIGGER full')
  await run.accept(tracks(4_096, () => '', 'b'))
  await run.settle()
  for (const id of ['a-17', 'b-17']) expect(await run.delivery.trace(id), id).toHaveLength(1)
  expect(other.prepare('SELECT sum(length(entries)) AS bytes FROM message_hashes').get()).toEqual({
    bytes: 2 * 4_096 * 16,
  })
  other.close()
  await run.restart()
  for (const id of ['a-17', 'b-17']) expect(await run.delivery.trace(id), id).toHaveLength(1)
})
