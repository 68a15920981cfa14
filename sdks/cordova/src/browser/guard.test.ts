import { expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'
import { newGuard } from './guard.ts'

test('a guard that cannot be written is told once, and the copy in the database counts', async () => {
  await using app = await TestApp.open()
  app.device.guard.set = () => {
    throw new DOMException('forbidden', 'SecurityError')
  }
  await app.ready({ logLevel: 'ERROR' })
  await app.client.putAnonymousId('a-1')
  await app.client.optOut(true)
  expect(app.printed.map(({ line }) => line)).toEqual(['[ServiceClient] STORAGE_IO localStorage'])
  await app.client.reset()
  expect((await app.client.getStatus()).lastError).toMatchObject({ code: 'STORAGE_IO' })
  await app.restart()
  expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
})

test.each([[true], [false]])(
  'optOut(%s) is only in memory when neither guard nor database can be written',
  async (isOptOut) => {
    await using app = await TestApp.open()
    app.device.guard.set = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    await app.device.fault('open')
    expect(await app.client.optOut(isOptOut)).toEqual({ status: 'memory' })
    await app.ready()
    expect(await app.client.optOut(isOptOut)).toEqual({ status: 'memory' })
    expect((await app.client.getStatus()).tracking).toBe(isOptOut ? 'disabled' : 'enabled')
  },
)

test('optOut(false) is only in memory when the guard, which may hold an opt-out, cannot be written', async () => {
  await using app = await TestApp.open()
  await app.ready()
  await app.client.optOut(true)
  app.device.guard.set = () => {
    throw new DOMException('full', 'QuotaExceededError')
  }
  expect(await app.client.optOut(false)).toEqual({ status: 'memory' })
  await app.restart()
  expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
})

test.each([['{'], ['null'], ['[]'], ['{"tracking":7}'], ['7']])('a guard that holds %s reads as empty', (text) => {
  const guard = newGuard(() => text, expect.unreachable)
  expect(guard.read()).toEqual({})
})

test('values that are not guarded are not written to it', () => {
  let written: string | undefined
  const guard = newGuard((text) => {
    written = text
    return null
  }, expect.unreachable)
  guard.put({ userId: 'u-1', session: '{}' })
  expect(written).toBeUndefined()
  guard.put({ tracking: 'disabled', userId: 'u-1' })
  expect(written).toBe('{"tracking":"disabled"}')
})

test('storage that fails is told in one line, however often it does', async () => {
  await using app = await TestApp.open()
  await app.device.fault('open')
  await app.ready({ logLevel: 'ERROR' })
  for (const name of ['A', 'B']) expect(await app.client.track(name)).toMatchObject({ status: 'memory' })
  expect(app.printed.filter(({ line }) => line.includes('STORAGE_OPEN'))).toHaveLength(1)
  expect(await app.client.getStatus()).toMatchObject({
    storage: 'memory',
    lastError: { code: 'STORAGE_OPEN' },
    queued: 2,
  })
  expect(await app.client.flush()).toMatchObject({ ok: true, sent: 2 })
})
