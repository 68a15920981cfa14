import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'

/* The examples of contracts/cordova-sdk.md §8.2, member by member, and §13: §28 items 14, 15 and 29 */

const ANONYMOUS_ID = '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77'
const USER_AGENT = 'Mozilla/5.0 (Linux; Android 15; Pixel 8) AppleWebKit/537.36'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open({
    platform: 'android',
    page: () => ({ language: 'de-DE', timezone: 'Europe/Berlin', userAgent: USER_AGENT }),
  })
  app.device.context = {
    app: { build: 320, name: 'Shop', namespace: 'com.example.shop', version: '3.2.0' },
    device: { manufacturer: 'Google', model: 'Pixel 8', name: 'shiba', type: 'Android' },
    locale: 'en-US',
    network: { cellular: false, wifi: true },
    os: { name: 'Android', version: '15' },
    screen: { density: 420, height: 2400, width: 1080 },
  }
})
afterEach(() => app[Symbol.asyncDispose]())

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
const TIME = '2026-11-20T09:30:00.000Z'
const ENVELOPE = {
  sentAt: TIME,
  messageId: UUID,
  originalTimestamp: TIME,
  channel: 'mobile',
  anonymousId: ANONYMOUS_ID,
}
const SESSION_ID = Date.parse(TIME) / 1000
const CONTEXT = {
  app: { build: 320, name: 'Shop', namespace: 'com.example.shop', version: '3.2.0' },
  device: { manufacturer: 'Google', model: 'Pixel 8', name: 'shiba', token: 'fcm-token-1', type: 'Android' },
  externalId: [{ type: 'crmId', id: 7 }],
  library: { name: 'service-sdk-cordova', version: '1.4.0' },
  locale: 'de-DE',
  network: { cellular: false, wifi: true },
  os: { name: 'Android', version: '15' },
  screen: { density: 420, height: 2400, width: 1080 },
  sessionId: SESSION_ID,
  timezone: 'Europe/Berlin',
  userAgent: USER_AGENT,
}
const TRAITS = { plan: 'pro', email: 'mira@example.com' }
const ids = (userId: string) => ({ anonymousId: ANONYMOUS_ID, userId, id: userId })

test('each example is what the calls make', async () => {
  const { client } = app
  await client.putAnonymousId(ANONYMOUS_ID)
  await app.ready({ trackLifecycleEvents: true, app: { version: '3.2.0', build: 320 } })
  await client.putDeviceToken('fcm-token-1')
  await client.identify('u-42', TRAITS, { externalIds: { crmId: 7 } })
  await client.track(
    'Order Completed',
    { order_id: 'A-1001', total: 39.9, currency: 'EUR', coupon: null },
    { integrations: { All: false, Amplitude: true } },
  )
  await client.screen('Cart', { items: 2 })
  await client.group('acme', { name: 'Acme GmbH', employees: 120 })
  await client.alias('mira-42')
  await client.flush()
  const { whole } = app.server.received[0]!

  const context = { ...CONTEXT, traits: { ...TRAITS, ...ids('u-42') } }
  const all = { All: true }
  const { token: _, ...device } = CONTEXT.device
  const { externalId: __, ...beforeIdentify } = CONTEXT
  expect(whole).toEqual([
    {
      ...ENVELOPE,
      type: 'track',
      event: 'Application Installed',
      properties: { version: '3.2.0', build: 320 },
      integrations: all,
      context: { ...beforeIdentify, device, sessionStart: true, traits: { anonymousId: ANONYMOUS_ID } },
    },
    {
      ...ENVELOPE,
      type: 'track',
      event: 'Application Opened',
      properties: { from_background: false, version: '3.2.0' },
      integrations: all,
      context: { ...beforeIdentify, device, traits: { anonymousId: ANONYMOUS_ID } },
    },
    {
      ...ENVELOPE,
      ...{ type: 'identify', userId: 'u-42', traits: TRAITS, integrations: all },
      context: { ...CONTEXT, traits: ids('u-42') },
    },
    {
      ...ENVELOPE,
      type: 'track',
      userId: 'u-42',
      event: 'Order Completed',
      properties: { order_id: 'A-1001', total: 39.9, currency: 'EUR', coupon: null },
      integrations: { All: false, Amplitude: true },
      context,
    },
    {
      ...ENVELOPE,
      type: 'screen',
      userId: 'u-42',
      event: 'Cart',
      name: 'Cart',
      properties: { items: 2, name: 'Cart' },
      integrations: all,
      context,
    },
    {
      ...ENVELOPE,
      type: 'group',
      userId: 'u-42',
      groupId: 'acme',
      traits: { name: 'Acme GmbH', employees: 120 },
      integrations: all,
      context,
    },
    {
      ...ENVELOPE,
      type: 'alias',
      userId: 'mira-42',
      previousId: 'u-42',
      integrations: all,
      context: { ...context, traits: { ...TRAITS, ...ids('mira-42') } },
    },
  ])
})

test('a screen keeps the name that its properties have', async () => {
  await app.ready()
  await app.client.screen('Cart', { name: 'Mine' })
  expect(await app.last()).toMatchObject({ event: 'Cart', name: 'Cart', properties: { name: 'Mine' } })
})

test('facts that change are in the next event, and the fixed text is made anew', async () => {
  await app.ready()
  await app.client.track('A')
  app.device.context = { network: { cellular: true, wifi: false } }
  await app.device.network(true)
  await app.client.track('B')
  expect((await app.last()).context).toMatchObject({
    network: { cellular: true, wifi: false },
    os: { name: 'Android' },
  })
})

test('no advertisement id appears unless it is switched on or put, and is asked for at most 500 ms', async () => {
  const asked: string[] = []
  const answer = { id: 'ad-1', enabled: true }
  let isSilent = false
  app.device.bridge.advertId = async () => {
    asked.push('advertId')
    return isSilent ? new Promise(() => undefined) : answer
  }
  await app.ready()
  await app.client.track('A')
  expect((await app.last()).context.device).not.toHaveProperty('advertisingId')
  expect(asked).toEqual([])

  await using other = await TestApp.open()
  other.device.bridge.advertId = app.device.bridge.advertId
  await other.ready({ autoCollectAdvertId: true })
  await other.client.track('A')
  expect((await other.last()).context.device).toEqual({ advertisingId: 'ad-1', adTrackingEnabled: true })

  isSilent = true
  await using slow = await TestApp.open()
  slow.device.bridge.advertId = app.device.bridge.advertId
  const initialized = slow.ready({ autoCollectAdvertId: true })
  await slow.until(() => asked.length === 2)
  slow.device.clock.advance(500)
  await initialized
})

test('a repeated batch carries the same messageIds and a new sentAt', async () => {
  await app.ready()
  app.server.follow({ answers: [{ lost: true }] })
  await app.client.track('A')
  await app.client.flush()
  app.device.clock.advance(1_500)
  await app.until(() => app.server.received.length === 2)
  const [first, second] = app.server.received
  expect(second!.whole[0].messageId).toBe(first!.whole[0].messageId)
  expect([first!.sentAt, second!.sentAt]).toEqual([TIME, '2026-11-20T09:30:01.500Z'])
})
