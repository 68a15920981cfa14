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
