import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
  await app.ready({ logLevel: 'WARN' })
  app.printed.length = 0
})
afterEach(() => app[Symbol.asyncDispose]())

const ONLY_OPTIONS = { integrations: { All: false } }

test.each([
  ['options alone', [ONLY_OPTIONS], {}, { All: false }],
  ['a further member', [{ ...ONLY_OPTIONS, price: 3 }], { integrations: { All: false }, price: 3 }, { All: true }],
  ['integrations that are no object', [{ integrations: 'yes' }], { integrations: 'yes' }, { All: true }],
  ['options forced to be data', [{ externalIds: { crm: 7 } }, {}], { externalIds: { crm: 7 } }, { All: true }],
  ['no data', [null, ONLY_OPTIONS], {}, { All: false }],
  ['empty data', [{}], {}, { All: true }],
])('the second argument: %s', async (_name, given, data, integrations) => {
  const { identify, track, group, screen } = app.client
  for (const call of [identify, track, group, screen]) {
    await call('x', ...given)
    const { type, properties, traits, integrations: found } = await app.last()
    const kept = type === 'screen' ? { ...data, name: 'x' } : data
    if (type !== 'identify') expect([type, properties ?? traits, found]).toEqual([type, kept, integrations])
    else expect([traits, found]).toEqual([expect.objectContaining(data), integrations])
    await app.client.reset()
  }
})

test.each([
  ['an event without All takes that of initialize', { All: false, A: true }, { B: true }, { All: false, B: true }],
  ['an event replaces those of initialize', { All: true, A: false }, { All: false, B: true }, { All: false, B: true }],
  ['initialize without All counts as true', { A: false }, undefined, { All: true, A: false }],
  ['a missing All is true', undefined, { B: false }, { All: true, B: false }],
])('integrations: %s', async (_name, initial, own, expected) => {
  await app.restart()
  await app.ready({ trackLifecycleEvents: true }, initial && { integrations: initial })
  expect((await app.last()).integrations).toEqual(initial ? { All: true, ...initial } : { All: true })
  await app.client.track('A', {}, own && { integrations: own })
  expect((await app.last()).integrations).toEqual(expected)
})

test('values that external ids cannot have are removed, with a warning', async () => {
  await app.client.track('A', {}, { externalIds: { crm: 1.5, shop: 7 } })
  expect((await app.last()).context.externalId).toEqual([{ type: 'shop', id: 7 }])
  expect(app.warnings()).toHaveLength(1)
})

const errors = () => app.printed.filter(({ level }) => level === 1)

test.each([
  [false, 0],
  ['false', 0],
  [0, 0],
  ['0', 0],
  [null, 0],
  [Number.NaN, 0],
  [new Boolean(false), 0],
  ['no', 1],
  ['', 1],
  [2, 1],
  [[true], 1],
  [undefined, 1],
  [() => true, 1],
])('integrations: nothing is sent to a destination with the value %s', async (value, told) => {
  await app.client.track('A', {}, { integrations: { Amplitude: value } })
  expect((await app.last()).integrations).toEqual({ All: true, Amplitude: false })
  expect(errors()).toHaveLength(told)
})

test.each([[true], ['true'], [1], [new Boolean(true)]])('integrations: %s counts as true', async (value) => {
  await app.client.track('A', {}, { integrations: { All: false, Amplitude: value } })
  expect((await app.last()).integrations).toEqual({ All: false, Amplitude: true })
})

test('integrations: an object counts as true and is kept; a value in place of the list is for all', async () => {
  await app.client.track('A', {}, { integrations: { All: 'false', Y: { mode: 1 } } })
  expect((await app.last()).integrations).toEqual({ All: false, Y: { mode: 1 } })
  await app.client.track('A', {}, { integrations: 'false' })
  expect((await app.last()).integrations).toEqual({ All: false })
})

test('String and Boolean objects are read as their values', async () => {
  await app.client.track(new String('Boxed'), { text: new String('t') })
  expect(await app.last()).toMatchObject({ event: 'Boxed', properties: { text: 't' } })
  expect(await app.client.putAnonymousId(new String('a-1'))).toMatchObject({ status: 'stored' })
  expect(await app.client.optOut(new Boolean(true))).toMatchObject({ status: 'stored' })
  expect(await app.client.getStatus()).toMatchObject({ tracking: 'disabled' })
})

const INVALID = { status: 'dropped', reason: 'INVALID_ARGUMENT' }

test.each([
  ['track', []],
  ['track', ['']],
  ['track', ['   ']],
  ['track', [null]],
  ['track', [{}]],
  ['track', [Number.NaN]],
  ['identify', []],
  ['identify', ['']],
  ['group', ['']],
  ['alias', ['']],
  ['screen', ['']],
  ['optOut', []],
  ['optOut', ['true']],
  ['optOut', [1]],
  ['putAnonymousId', ['']],
  ['putAnonymousId', ['x'.repeat(129)]],
  ['putAnonymousId', ['ü'.repeat(65)]],
  ['putDeviceToken', [undefined]],
] as const)('%s(%j) is dropped and changes nothing', async (method, given) => {
  const call = app.client[method] as (...given: readonly unknown[]) => Promise<unknown>
  const before = (await app.client.getStatus()).dropped.invalid
  expect(await call(...given)).toEqual(INVALID)
  const status = await app.client.getStatus()
  expect([await app.queued(), status.tracking, status.dropped.invalid - before]).toEqual([[], 'enabled', 1])
})

test('numbers as ids and names become texts, with a warning; blanks in names stay', async () => {
  await app.client.track(42)
  expect((await app.last()).event).toBe('42')
  await app.client.identify(42)
  expect((await app.last()).userId).toBe('42')
  await app.client.putAnonymousId(5)
  await app.client.track(' A ')
  expect(await app.last()).toMatchObject({ event: ' A ', anonymousId: '5' })
  expect(app.warnings()).toHaveLength(3)
})

test.each([['text'], [[1]], [new Map([[1, 2]])], [7]])(
  'properties that are no object are ignored: %j',
  async (given) => {
    expect(await app.client.track('A', given)).toMatchObject({ status: 'stored' })
    expect((await app.last()).properties).toEqual({})
    expect(app.warnings()).toHaveLength(1)
  },
)

test('values that JSON cannot hold are converted, nulled or left out', async () => {
  await app.client.track('A', {
    a: undefined,
    b: () => 1,
    c: Number.NaN,
    d: 10n,
    e: new Date(0),
    f: [undefined],
    g: null,
  })
  expect((await app.last()).properties).toEqual({ c: null, d: '10', e: '1970-01-01T00:00:00.000Z', f: [null], g: null })
})

test('cycles, depth, throwing getters and toJSON become null at their place', async () => {
  const cycle: Record<string, unknown> = { kept: 1 }
  cycle['self'] = cycle
  let deep: unknown = 'bottom'
  for (let level = 0; level < 200; level++) deep = { deep }
  const given = {
    cycle,
    deep,
    get broken() {
      throw new Error('no')
    },
    json: {
      toJSON: () => {
        throw new Error('no')
      },
    },
    [Symbol('s')]: 1,
  }
  expect(await app.client.track('A', given)).toMatchObject({ status: 'stored' })
  const { properties } = await app.last()
  expect(properties).toMatchObject({ cycle: { kept: 1, self: null }, broken: null, json: null })
  expect(JSON.stringify(properties.deep)).toMatch(/^(\{"deep":){98,100}null/)
})

test('__proto__ from JSON.parse is data and changes no prototype', async () => {
  await app.client.track('A', JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": 1}}'))
  const [body] = (await app.queued()).map((event) => JSON.stringify(event.properties))
  expect(body).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test('half a surrogate pair in a name, id or token becomes U+FFFD, so that every platform stores the same text', async () => {
  const half = 'a\ud800b'
  const whole = 'a\ufffdb'
  await app.client.putAnonymousId(half)
  await app.client.putDeviceToken(new String(half))
  await app.client.putAdvertisingId(half)
  await app.client.identify(half)
  expect(await app.last()).toMatchObject({
    anonymousId: whole,
    userId: whole,
    context: { device: { token: whole, advertisingId: whole } },
  })
  expect(await app.device.values()).toMatchObject({ anonymousId: whole, userId: whole, deviceToken: whole })
  await app.client.group(half)
  expect(await app.last()).toMatchObject({ groupId: whole })
  await app.client.track(half)
  expect(await app.last()).toMatchObject({ event: whole })
  await app.client.alias('\ud83d\ude00\udc00')
  expect(await app.last()).toMatchObject({ userId: '\ud83d\ude00\ufffd', previousId: whole })
})

test('a lone surrogate in a property is sent as its escape', async () => {
  await app.client.track('A', { text: 'x\ud800' })
  let body = ''
  await app.device.bridge.visit((row) => {
    body = row.body
    return true
  })
  expect(body).toContain('"x\\ud800"')
})

test('an event of 32,768 bytes as sent is stored, one byte more is dropped', async () => {
  // Twice, because the first event of a session says so.
  await app.client.track('A', { text: '' })
  await app.client.track('A', { text: '' })
  let size = 0
  await app.device.bridge.visit((row) => {
    size = row.size
    return true
  })
  const room = 32_768 - 36 - size
  expect(await app.client.track('A', { text: 'x'.repeat(room) })).toMatchObject({ status: 'stored' })
  expect(await app.client.track('A', { text: 'x'.repeat(room + 1) })).toEqual({
    status: 'dropped',
    reason: 'TOO_LARGE',
  })
  expect(await app.client.identify('u-1', { text: 'x'.repeat(40_000) })).toMatchObject({ reason: 'TOO_LARGE' })
  await app.client.track('B')
  expect((await app.last()).userId).toBeUndefined()
  expect((await app.client.getStatus()).dropped.tooLarge).toBe(2)
})

test('options that are no object are ignored, with a warning', async () => {
  await app.client.track('A', {}, 7)
  expect((await app.last()).integrations).toEqual({ All: true })
  expect(app.warnings()).toHaveLength(1)
})

test('methods work without their object', async () => {
  const { track } = app.client
  expect(await track('A')).toMatchObject({ status: 'stored' })
})

test('the former names work', async () => {
  await app.client.setAnonymousId('a-1')
  await app.client.setAnonymousId('a-2')
  await app.client.setAdvertisingId('ad-1')
  await app.client.track('A')
  expect(await app.last()).toMatchObject({ anonymousId: 'a-2', context: { device: { advertisingId: 'ad-1' } } })
})
