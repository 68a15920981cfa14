import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Tabs } from '../browser/web-engine.ts'
import { TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
})
afterEach(() => app[Symbol.asyncDispose]())

const events = async () => (await app.queued()).map(({ event, type }) => event ?? type)

test('optOut(true) drops calls, sends nothing, keeps earlier events, and holds after a restart', async () => {
  await app.ready()
  await app.client.track('A')
  expect(await app.client.optOut(true)).toEqual({ status: 'stored' })
  expect(await app.client.track('B')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  expect(await app.client.flush()).toEqual({ ok: false, sent: 0, remaining: 1, reason: 'OPTED_OUT' })
  app.device.clock.advance(3_600_000)
  await app.device.stop()
  await app.restart()
  expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
  expect(await app.client.track('C')).toMatchObject({ reason: 'OPTED_OUT' })
  expect(await events()).toEqual(['A'])
  expect(app.server.received).toEqual([])
})

test('optOut(true) holds after the database was deleted', async () => {
  await app.ready()
  await app.client.optOut(true)
  await app.device.kill()
  await app.device.deleteStore()
  await app.restart()
  expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
})

test('optOut(true) with purge deletes events and the token before it resolves', async () => {
  await app.ready({ optOutQueue: 'purge' })
  await app.client.putDeviceToken('t-1')
  await app.client.track('A')
  await app.client.optOut(true)
  expect(await events()).toEqual([])
  expect((await app.device.values())['deviceToken']).toBeUndefined()
})

test('calls of the same turn as optOut(true) but before it are kept', async () => {
  await app.ready()
  void app.client.track('A')
  void app.client.optOut(true)
  expect(await app.client.track('B')).toMatchObject({ reason: 'OPTED_OUT' })
  expect(await events()).toEqual(['A'])
})

test('optOut(false) resumes; put values given while disabled take effect then', async () => {
  await app.ready()
  await app.client.optOut(true)
  expect(await app.client.putDeviceToken('t-1')).toEqual({ status: 'deferred' })
  await app.client.putAnonymousId('a-9')
  const resumed = app.client.optOut(false)
  await app.client.track('A')
  expect(await resumed).toEqual({ status: 'stored' })
  await app.client.track('B')
  expect(await events()).toEqual(['A', 'B'])
  expect(await app.last()).toMatchObject({ anonymousId: 'a-9', context: { device: { token: 't-1' } } })
})

test('an app that starts disabled makes its id at optOut(false)', async () => {
  await app.client.optOut(true)
  await app.ready()
  await app.client.optOut(false)
  await app.client.track('A')
  expect((await app.last()).anonymousId).toMatch(/^[0-9a-f-]{36}$/)
})

test('with requireConsent nothing is stored, made or sent before optOut(false); then all arrives with its own time', async () => {
  await app.client.track('A')
  app.device.clock.advance(1_000)
  expect(await app.ready({ requireConsent: true, trackLifecycleEvents: true })).toMatchObject({
    tracking: 'awaiting-consent',
  })
  app.device.clock.advance(1_000)
  expect(await app.client.track('B')).toEqual({ status: 'deferred' })
  await app.device.stop()
  app.device.clock.advance(3_600_000)
  expect(await app.client.flush()).toMatchObject({ reason: 'AWAITING_CONSENT' })
  expect([await events(), await app.device.values(), [...app.device.guard.keys()]]).toEqual([[], {}, []])
  expect([app.server.received, app.server.configRequests]).toEqual([[], []])

  await app.client.optOut(false)
  const found = await app.queued()
  expect(found.map(({ event, originalTimestamp }) => [event, originalTimestamp.slice(11, 19)])).toEqual([
    ['Application Installed', '09:30:01'],
    ['Application Opened', '09:30:01'],
    ['A', '09:30:00'],
    ['B', '09:30:02'],
    ['Application Backgrounded', '09:30:02'],
  ])
})

test('ids and events of a run without requireConsent stay unsent until consent', async () => {
  await app.ready()
  await app.client.identify('u-1')
  await app.restart()
  expect(await app.ready({ requireConsent: true })).toMatchObject({ tracking: 'awaiting-consent' })
  expect(await app.client.flush()).toMatchObject({ reason: 'AWAITING_CONSENT', remaining: 0 })
  await app.client.optOut(false)
  expect(await app.client.flush()).toMatchObject({ ok: true, sent: 1 })
  await app.client.track('A')
  expect((await app.last()).userId).toBe('u-1')
})

test('optOut(true) while awaiting consent discards what is held', async () => {
  await app.ready({ requireConsent: true })
  await app.client.track('A')
  await app.client.optOut(true)
  await app.client.optOut(false)
  await app.client.track('B')
  expect(await events()).toEqual(['B'])
})

test('a recorded opt-in is remembered by a later run that requires consent', async () => {
  await app.ready({ requireConsent: true })
  await app.client.optOut(false)
  await app.restart()
  expect(await app.ready({ requireConsent: true })).toMatchObject({ tracking: 'enabled' })
})

test('reset(true) before ready erases at once and discards identify, alias and put calls held until then', async () => {
  await app.ready()
  await app.client.identify('u-1')
  await app.restart()
  await app.client.putAnonymousId('a-1')
  await app.client.identify('u-2')
  await app.client.track('A')
  expect(await app.client.reset(true)).toEqual({ status: 'deferred' })
  expect(await app.device.values()).not.toHaveProperty('userId')
  expect(app.device.guard.get('service-sdk-cordova.guard')).not.toContain('anonymousId')
  await app.client.track('B')
  await app.ready()
  const [, a, b] = await app.queued()
  expect([a.event, a.userId, b.event, b.userId]).toEqual(['A', undefined, 'B', undefined])
  expect(b.anonymousId).not.toBe('a-1')
})

test('reset before ready is held in its order', async () => {
  await app.client.identify('u-1')
  expect(await app.client.reset()).toEqual({ status: 'deferred' })
  await app.client.track('A')
  await app.ready()
  expect((await app.last()).userId).toBeUndefined()
})

test('reset(true) while disabled erases and makes nothing', async () => {
  await app.ready()
  await app.client.identify('u-1')
  await app.client.optOut(true)
  await app.client.reset(true)
  const values = await app.device.values()
  expect([values['userId'], values['anonymousId'], values['tracking']]).toEqual([undefined, undefined, 'disabled'])
})

test('an optOut(false) that the engine refuses changes nothing, and the next one resumes tracking', async () => {
  await app.ready()
  await app.client.optOut(true)
  const engine = app.device.bridge
  const { state } = engine
  engine.state = async () => Promise.reject({ code: 'QUEUE_FULL', detail: '10,000 calls wait' })
  expect(await app.client.optOut(false)).toEqual({ status: 'dropped', reason: 'QUEUE_FULL' })
  expect(await app.client.getStatus()).toMatchObject({ tracking: 'disabled' })
  engine.state = state
  expect(await app.client.optOut(false)).toEqual({ status: 'stored' })
  expect(await app.client.track('A')).toMatchObject({ status: 'stored' })
  expect(await events()).toEqual(['A'])
})

test('an optOut(false) whose held calls cannot be stored leaves them held, and the next one stores them', async () => {
  await app.ready({ requireConsent: true })
  await app.client.track('A')
  const engine = app.device.bridge
  const { open } = engine
  engine.open = async () => Promise.reject({ code: 'QUEUE_FULL', detail: '10,000 calls wait' })
  expect(await app.client.optOut(false)).toEqual({ status: 'dropped', reason: 'QUEUE_FULL' })
  expect(await app.client.track('B')).toEqual({ status: 'deferred' })
  engine.open = open
  expect(await app.client.optOut(false)).toEqual({ status: 'stored' })
  expect(await events()).toEqual(['A', 'B'])
})

test('optOut(false) twice at once gives the events that follow an anonymousId', async () => {
  await app.ready({ requireConsent: true })
  const both = Promise.all([app.client.optOut(false), app.client.optOut(false)])
  void app.client.track('A')
  await both
  expect(await app.last()).toMatchObject({ event: 'A', anonymousId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
})

test('optOut(false) that optOut(true) follows at once makes no id and stores no held call', async () => {
  await app.ready({ requireConsent: true })
  await app.client.track('A')
  await Promise.all([app.client.optOut(false), app.client.optOut(true)])
  expect(await app.client.getStatus()).toMatchObject({ tracking: 'disabled', queued: 0 })
  expect((await app.device.values())['anonymousId']).toBeUndefined()
  expect(await events()).toEqual([])
})

test('a purge by optOut(true) spares the events after an optOut(false) that follows at once', async () => {
  await app.ready({ optOutQueue: 'purge' })
  void app.client.track('A')
  void app.client.optOut(true)
  const resumed = app.client.optOut(false)
  await app.client.track('B')
  await resumed
  await app.client.track('C')
  expect(await events()).toEqual(['B', 'C'])
})

test('lifecycle events of a start during which optOut(true) came are dropped, also after optOut(false)', async () => {
  const engine = app.device.bridge
  const { advertId } = engine
  engine.advertId = async () => {
    await app.client.optOut(true)
    return {}
  }
  await app.ready({ trackLifecycleEvents: true, autoCollectAdvertId: true })
  engine.advertId = advertId
  await app.client.optOut(false)
  await app.client.track('A')
  expect(await events()).toEqual(['A'])
})

test('an optOut(true) in another tab while this one starts holds in this one', async () => {
  let tell: Parameters<Tabs['onTold']>[0] = () => undefined
  app.device.tabs = { tell: () => undefined, onTold: (hear) => (tell = hear) }
  app.device.bridge.advertId = async () => {
    tell({ tracking: 'disabled' })
    return {}
  }
  expect(await app.ready({ autoCollectAdvertId: true })).toMatchObject({ tracking: 'disabled' })
  expect(await app.client.track('A')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  expect(await events()).toEqual([])
})

test('no batch leaves after an optOut(true) that comes while it is compressed', async () => {
  await app.ready()
  await app.client.track('A', { text: 'x'.repeat(2_000) })
  app.device.atCompressing = () => app.client.optOut(true)
  expect(await app.client.flush()).toMatchObject({ ok: false, sent: 0, remaining: 1, reason: 'OPTED_OUT' })
  expect(app.server.received).toEqual([])
})
