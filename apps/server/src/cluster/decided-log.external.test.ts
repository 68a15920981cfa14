import { LogScan } from '@millrace/pipeline/cluster'
import { systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { decidedLog } from './decided-log.ts'
import { accept, EnginesUnderTest } from './testing/shards-under-test.ts'

test.each([
  ['at', 1, ['1 0', '1 1']],
  ['before', 0, ['0 0', '1 0', '1 1']],
])(
  'a replay %s the known end of the log finds what other processes have stored, once that is decided',
  async (_, offset, expected) => {
    await using engines = await EnginesUnderTest.start('decided_log')
    const gateway = await engines.log()
    await accept(gateway, 0, 1)
    // It follows no partition, so it does not hear of the next record.
    const log = await engines.log()
    const end = await accept(gateway, 0, 2)
    expect([log.end(0), end]).toEqual([1, 2])

    let decidedTo = 0
    const decided = decidedLog(log, async () => {
      decidedTo = log.end(0)
    })
    const scan = new LogScan(decided, await engines.store(), systemClock, () => {})
    const all = { types: [], events: [], userIds: [], messageIds: [], outcomes: [] }
    const selection = { ...all, sourceIds: ['s0'], from: 0, to: Date.now() + 60_000, ends: [end, 0] }
    const found: string[] = []
    for (let place = { offset, index: 0 }, isAtEnd = false; !isAtEnd; ) {
      const step = await scan.next(
        { partition: 0, selection, destinationId: 'd1' },
        place,
        new AbortController().signal,
      )
      expect(step.next.offset).toBeLessThanOrEqual(decidedTo)
      found.push(...step.found.map((each) => `${each.offset} ${each.index}`))
      place = step.next
      isAtEnd = step.isAtEnd
    }
    await scan.rest()
    expect(found).toEqual(expected)
  },
)
