import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
})
afterEach(() => app[Symbol.asyncDispose]())

test('identify merges the traits of the same user, and a null removes one from the stored set', async () => {
  await app.ready()
  await app.client.identify('u-1', { plan: 'pro', city: 'Bonn' })
  await app.client.identify('u-1', { plan: 'max', city: null })
  const { traits, context, anonymousId } = await app.last()
  expect(traits).toEqual({ plan: 'max' })
  // They do not travel twice.
  expect(context.traits).toEqual({ anonymousId, userId: 'u-1', id: 'u-1' })
  await app.client.track('A')
  expect((await app.last()).context.traits).toEqual({ plan: 'max', anonymousId, userId: 'u-1', id: 'u-1' })
})

test('an identify that is too large changes the user, without its largest traits', async () => {
  await app.ready({ logLevel: 'WARN' })
  await app.client.identify('u-1', { plan: 'pro' })
  const traits = { note: 'x'.repeat(20_000), city: 'Bonn', picture: 'ä'.repeat(14_000), plan: 'max' }
  expect(await app.client.identify('u-2', traits)).toMatchObject({ status: 'stored' })
  const identify = await app.last()
  expect(identify).toMatchObject({ userId: 'u-2', traits: { note: traits.note, city: 'Bonn', plan: 'max' } })
  expect(identify.traits).not.toHaveProperty('picture')
  expect(app.warnings().at(-1)).toContain('traits')
  await app.client.track('A')
  expect(await app.last()).toMatchObject({ userId: 'u-2', context: { traits: { city: 'Bonn', id: 'u-2' } } })
  await app.restart()
  await app.ready()
  await app.client.track('B')
  expect(await app.last()).toMatchObject({ userId: 'u-2', context: { traits: { city: 'Bonn' } } })
})

test('after an identify of which nothing fits the events are nobody’s, not those of the user before', async () => {
  await app.ready()
  await app.client.identify('u-1', { plan: 'pro' })
  expect(await app.client.identify('u'.repeat(40_000))).toMatchObject({ status: 'dropped', reason: 'TOO_LARGE' })
  await app.client.track('A')
  const { userId, context, anonymousId } = await app.last()
  expect([userId, context.traits]).toEqual([undefined, { anonymousId }])
  await app.restart()
  await app.ready()
  await app.client.track('B')
  expect((await app.last()).userId).toBeUndefined()
})

test('identify with another user id replaces traits and external ids', async () => {
  await app.ready()
  await app.client.identify('u-1', { plan: 'pro' }, { externalIds: { crm: 7 } })
  await app.client.identify('u-2', { city: 'Bonn' })
  const { traits, context, userId } = await app.last()
  expect(userId).toBe('u-2')
  expect(traits).toEqual({ city: 'Bonn' })
  expect(context.externalId).toBeUndefined()
})

test('identify with the same user id merges external ids by type', async () => {
  await app.ready()
  await app.client.identify('u-1', {}, { externalIds: { crm: 7, shop: 'x' } })
  await app.client.identify('u-1', {}, { externalIds: { crm: 8 } })
  expect((await app.last()).context.externalId).toEqual([
    { type: 'crm', id: 8 },
    { type: 'shop', id: 'x' },
  ])
})

test('a trait of the host that is called id stays', async () => {
  await app.ready()
  await app.client.identify('u-1', { id: 'mine' })
  expect((await app.last()).context.traits).toMatchObject({ id: 'mine', userId: 'u-1' })
})

test('alias says who the user was: the user id, or the anonymousId when there is none', async () => {
  await app.ready()
  await app.client.putAnonymousId('a-1')
  await app.client.alias('u-1')
  expect(await app.last()).toMatchObject({ type: 'alias', userId: 'u-1', previousId: 'a-1' })
  await app.client.alias('u-2')
  const { previousId, userId, context } = await app.last()
  expect([previousId, userId]).toEqual(['u-1', 'u-2'])
  expect(context.traits).toMatchObject({ userId: 'u-2', id: 'u-2' })
})

test('group leaves the identity as it is', async () => {
  await app.ready()
  await app.client.group('acme', { employees: 120 })
  expect(await app.last()).toMatchObject({ type: 'group', groupId: 'acme', traits: { employees: 120 } })
  await app.client.track('A')
  expect((await app.last()).userId).toBeUndefined()
})

test('reset clears user id, traits and external ids, and keeps anonymousId, token and queue', async () => {
  await app.ready()
  await app.client.putAnonymousId('a-1')
  await app.client.putDeviceToken('t-1')
  await app.client.identify('u-1', { plan: 'pro' }, { externalIds: { crm: 7 } })
  expect(await app.client.reset()).toEqual({ status: 'stored' })
  await app.client.track('A')
  const event = await app.last()
  expect(event.userId).toBeUndefined()
  expect(event.anonymousId).toBe('a-1')
  expect(event.context).toMatchObject({ traits: { anonymousId: 'a-1' }, device: { token: 't-1' } })
  expect(Object.keys(event.context.traits)).toEqual(['anonymousId'])
  expect(event.context.externalId).toBeUndefined()
  expect(await app.queued()).toHaveLength(2)
})

test('only reset(true) renews the anonymousId; it also clears the token', async () => {
  await app.ready()
  await app.client.putAnonymousId('a-1')
  await app.client.putDeviceToken('t-1')
  for (const other of ['true', 1, {}]) await app.client.reset(other)
  await app.client.track('A')
  expect(await app.last()).toMatchObject({ anonymousId: 'a-1', context: { device: { token: 't-1' } } })
  await app.client.reset(true)
  await app.client.track('B')
  const { anonymousId, context } = await app.last()
  expect(anonymousId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(context.device).toBeUndefined()
})

test('identity, token and tracking state survive a restart; the advertisement id does not', async () => {
  await app.ready()
  await app.client.identify('u-1', { plan: 'pro' }, { externalIds: { crm: 7 } })
  await app.client.putDeviceToken('t-1')
  await app.client.putAdvertisingId('ad-1')
  await app.client.track('A')
  const before = await app.last()
  expect(before.context.device).toEqual({ token: 't-1', advertisingId: 'ad-1', adTrackingEnabled: true })
  await app.restart()
  await app.ready()
  await app.client.track('B')
  const after = await app.last()
  expect(after).toMatchObject({ userId: 'u-1', anonymousId: before.anonymousId })
  expect(after.context.traits).toEqual(before.context.traits)
  expect(after.context.externalId).toEqual(before.context.externalId)
  expect(after.context.device).toEqual({ token: 't-1' })
})

test('an empty advertisement id or token removes the one there is', async () => {
  await app.ready()
  await app.client.putAdvertisingId('ad-1')
  await app.client.putDeviceToken('t-1')
  await app.client.putAdvertisingId('')
  await app.client.putDeviceToken('')
  await app.client.track('A')
  expect((await app.last()).context.device).toBeUndefined()
})

test('a token or advertisement id of more than 4,096 bytes is refused, and events go on with the one before', async () => {
  await app.ready()
  await app.client.putDeviceToken('t-1')
  await app.client.putAdvertisingId('ad-1')
  for (const long of ['x'.repeat(4_097), 'ä'.repeat(2_049)]) {
    const refused = { status: 'dropped', reason: 'INVALID_ARGUMENT' }
    expect(await app.client.putDeviceToken(long)).toEqual(refused)
    expect(await app.client.putAdvertisingId(long)).toEqual(refused)
  }
  expect(await app.client.track('A')).toMatchObject({ status: 'stored' })
  expect((await app.last()).context.device).toMatchObject({ token: 't-1', advertisingId: 'ad-1' })
  expect(await app.client.putDeviceToken('x'.repeat(4_096))).toEqual({ status: 'stored' })
})

test('external ids that are too many or too long are ignored, and those of before stay', async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`type-${at}`, at]))
  await app.ready({ logLevel: 'WARN' }, { externalIds: { crm: 7 } })
  app.printed.length = 0
  for (const externalIds of [{ long: 'x'.repeat(4_096) }, { ['ä'.repeat(2_048)]: 1 }, many]) {
    for (const call of [app.client.identify('u-1', {}, { externalIds }), app.client.track('A', {}, { externalIds })]) {
      expect(await call).toMatchObject({ status: 'stored' })
      expect((await app.last()).context.externalId).toEqual([{ type: 'crm', id: 7 }])
    }
  }
  expect(app.warnings()).toEqual(Array(6).fill('[ServiceClient] externalIds was ignored'))
  for (let at = 0; at < 200; at++) await app.client.identify('u-1', {}, { externalIds: { [`type-${at}`]: at } })
  expect(JSON.stringify((await app.last()).context.externalId).length).toBeLessThanOrEqual(4_096)
  await app.client.identify('u-2', {}, { externalIds: many })
  expect((await app.last()).context.externalId).toBeUndefined()
})

test('a longer token, and longer external ids, of an earlier version are in no event, and can be erased', async () => {
  const externalIds = JSON.stringify({ long: 'x'.repeat(20_000) })
  await app.device.bridge.state({ deviceToken: 't'.repeat(20_000), externalIds })
  await app.ready()
  expect(await app.client.track('A')).toMatchObject({ status: 'stored' })
  const { context } = await app.last()
  expect([context.device, context.externalId]).toEqual([undefined, undefined])
  await app.client.reset(true)
  expect(await app.device.values()).not.toMatchObject({ deviceToken: expect.anything() })
  expect(await app.device.values()).not.toMatchObject({ externalIds: expect.anything() })
})

test('events that are queued are not rewritten', async () => {
  await app.ready()
  await app.client.track('A')
  await app.client.identify('u-1')
  expect((await app.queued())[0].userId).toBeUndefined()
})

test('external ids of a call reach that event only, those of initialize all', async () => {
  await app.ready({}, { externalIds: { crm: 7 } })
  await app.client.track('A', {}, { externalIds: { shop: 3 } })
  expect((await app.last()).context.externalId).toEqual([
    { type: 'crm', id: 7 },
    { type: 'shop', id: 3 },
  ])
  await app.client.track('B')
  expect((await app.last()).context.externalId).toEqual([{ type: 'crm', id: 7 }])
})
