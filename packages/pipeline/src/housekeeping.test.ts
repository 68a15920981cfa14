import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SqliteDeliveryStore } from '@millrace/delivery'
import { SqliteEventLog } from '@millrace/log'
import { messageHash } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { Housekeeping } from './housekeeping.ts'
import { recordOf } from './testing/test-events.ts'

const LOGGER = { info: () => {}, warn: () => {}, error: () => {} }

test('the index of messageIds of a partition that retention has emptied is removed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-housekeeping-'))
  const clock = new ManualClock(Date.UTC(2026, 10, 26))
  await using closing = new AsyncDisposableStack()
  const store = await SqliteDeliveryStore.open({ file: join(folder.path, 'delivery.db'), clock, logger: LOGGER })
  closing.defer(() => store.close())
  await using log = await SqliteEventLog.open({ directory: folder.path, partitions: 2, clock })
  // Partition 1 has a record; partition 0 had the one before it.
  await log.append(1, 'live', recordOf([{ messageId: 'm-1' }], 's', 0))
  await log.append(1, 'live', recordOf([{ messageId: 'm-2' }], 's', 0))
  const hash = messageHash('m-0')
  const position = { reader: 'messages', partition: 0, stream: 0, position: { offset: 1, index: 0 } }
  const entries = Buffer.concat([hash, Buffer.alloc(8)])
  await store.messages.write({ partition: 0, lastOffset: 0, entries, position })
  expect(await store.messages.find(hash)).toHaveLength(1)

  const nothing = { neededFrom: Number.POSITIVE_INFINITY, readUpTo: Number.POSITIVE_INFINITY, keptFrom: undefined }
  const housekeeping = new Housekeeping({
    ...{ log, store, clock, logger: LOGGER, logKeepMs: 3_600_000 },
    traces: { keepMs: 3_600_000, maxBytes: 1e9 },
    needs: async () => [0, 1].map((partition) => ({ partition, ...nothing })),
    pruneSpans: async () => {},
  })
  await housekeeping.tidy()
  expect(await store.messages.find(hash)).toEqual([])
})
