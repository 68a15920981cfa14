import { expect, test } from 'vitest'
import { MemoryDevice } from '../testing/memory-device.ts'
import { standardSettings } from '../testing/scenario.ts'

test.each(['lost-once', 'full-once'])('a purge is tried again when its first write fails: %s', async (fault) => {
  await using device = new MemoryDevice()
  await device.bridge.open(standardSettings(''))
  await device.bridge.push({ rows: [{ body: '{"event":"A"}' }, { body: '{"event":"B"}' }], state: {} })
  await device.fault(fault)
  await device.bridge.purge('events')
  expect(await device.rows()).toEqual([])
  const { queued, report } = await device.bridge.push({ rows: [], state: {} })
  expect([queued, report.dropped.purged]).toEqual([0, 2])
})
