import { afterAll, beforeAll, expect, test } from 'vitest'
import { PageDevice } from '../testing/page-device.ts'
import { standardSettings } from '../testing/scenario.ts'

/* A store that is lost while the page runs: contracts/cordova-sdk.md §21 */

let device: PageDevice
beforeAll(async () => {
  device = await PageDevice.open()
}, 60_000)
afterAll(() => device?.[Symbol.asyncDispose]())

test('a database that somebody deletes is opened once more, and later events are stored', async () => {
  await device.reset(0)
  await device.bridge.open(standardSettings(''))
  await device.bridge.push({ rows: [{ body: '{"event":"A"}' }], state: {} })
  await device.loseStore()
  const { inMemory, report } = await device.bridge.push({ rows: [{ body: '{"event":"B"}' }], state: {} })
  expect([inMemory, report.storage, report.lastError?.code]).toEqual([false, 'indexeddb', 'STORAGE_LOST'])
  expect(await device.rows()).toEqual(['B'])
})

test('a purge whose connection is lost connects once more, and deletes the rows', async () => {
  await device.reset(0)
  await device.bridge.open(standardSettings(''))
  await device.bridge.push({ rows: [{ body: '{"event":"A"}' }, { body: '{"event":"B"}' }], state: {} })
  await device.loseConnection()
  await device.bridge.purge('events')
  await device.kill()
  const { queued, report } = await device.bridge.open(standardSettings(''))
  expect([queued, report.storage, report.dropped.purged]).toEqual([0, 'indexeddb', 2])
  expect(await device.rows()).toEqual([])
})
