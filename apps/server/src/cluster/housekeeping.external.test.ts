import { deleteRecords } from '@millrace/log/testing/delete-records'
import { brokerOfRun } from '@millrace/log/testing/test-run'
import { messageHash } from '@millrace/protocol'
import { ManualClock, systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { tidy } from './housekeeping.ts'
import { accept, EnginesUnderTest } from './testing/shards-under-test.ts'

const DAY_MS = 24 * 3_600_000

test.each([
  ['leaves when retention has emptied the partition', [], 0],
  ['stays while one of the records is kept for a destination', [{ offset: 0 }], 1],
])('the index of messageIds of a past day %s', async (_, kept, expected) => {
  await using engines = await EnginesUnderTest.start('housekeeping')
  const log = await engines.log()
  const end = await accept(log, 0, 1)
  const hash = messageHash('m-0')
  const before = await engines.store({ clock: new ManualClock(Date.now() - 2 * DAY_MS) })
  const position = { reader: 'messages', partition: 0, stream: 0, position: { offset: end, index: 0 } }
  await before.messages.write({
    partition: 0,
    lastOffset: 0,
    entries: Buffer.concat([hash, Buffer.alloc(8)]),
    position,
  })
  const facts = { stream: 0, sourceId: 's0', events: 1, bytes: Buffer.alloc(1), duplicates: null }
  await before.backlog.keepRecords({ partition: 0, records: kept.map((place) => ({ ...place, ...facts })) })
  const { addresses: brokers } = await brokerOfRun()
  await deleteRecords({ brokers }, systemClock, { topic: `${engines.prefix}.live`, index: 0, before: end })
  expect(await log.oldest(0)).toBe(undefined)

  const store = await engines.store()
  const lease = { kind: 'housekeeping', number: 0, epoch: await engines.claim('housekeeping', 0) }
  await tidy({ log, store, clock: systemClock, maxBytes: 1e9 }, lease)
  expect(await store.messages.find(hash)).toHaveLength(expected)
})
