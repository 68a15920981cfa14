import { expect, test } from 'vitest'
import { LogLevel, ServiceClient } from './module.ts'

/* contracts/cordova-sdk.md §1: what the ES entry does where a server renders. docs/decisions/0065-calls-without-a-window.md */

test('without a window calls resolve and are dropped, and nothing is kept of them', async () => {
  expect('window' in globalThis).toBe(false)
  const dropped = { status: 'dropped' }
  expect(await ServiceClient.putAnonymousId('a-1')).toEqual(dropped)
  expect(await ServiceClient.identify('u-1')).toEqual(dropped)
  expect(await ServiceClient.track('A')).toEqual(dropped)
  expect(await ServiceClient.optOut(true)).toEqual(dropped)
  expect(await ServiceClient.flush()).toMatchObject({ ok: false, reason: 'NOT_INITIALIZED' })
  const { state, tracking, queued } = await ServiceClient.getStatus()
  expect([state, tracking, queued]).toEqual(['idle', 'enabled', 0])
  expect(LogLevel.DEBUG).toBe(4)
})

test('without a window initialize rejects, and nobody has to look', async () => {
  const raised: unknown[] = []
  const listen = (reason: unknown) => raised.push(reason)
  process.on('unhandledRejection', listen)
  await expect(ServiceClient.initialize('wk-1')).rejects.toMatchObject({ code: 'DEVICE_NOT_READY' })
  void ServiceClient.initialize('wk-1')
  // Node tells of it after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', listen)
  expect(raised).toEqual([])
})
