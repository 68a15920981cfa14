import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryDevice } from '../testing/memory-device.ts'
import { TestApp } from '../testing/test-app.ts'
import type { Exec } from './native-bridge.ts'

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
})
afterEach(() => app[Symbol.asyncDispose]())

test('initialize resolves without a network', async () => {
  await app.device.network(false)
  expect(await app.client.initialize('wk-1', { dataPlaneUrl: 'https://events.example.com' })).toEqual({
    storage: 'memory',
    tracking: 'enabled',
    warnings: [],
  })
})

test('calls before initialize arrive in order, with the times of the calls, as they were then', async () => {
  const properties = { list: [1] }
  expect(await app.client.track('A', properties)).toEqual({ status: 'deferred' })
  app.device.clock.advance(1_000)
  properties.list.push(2)
  await app.client.identify('u-1')
  const initialized = app.ready()
  await app.client.track('B')
  await initialized
  await app.client.track('C')
  const events = await app.queued()
  expect(events.map(({ type, event, properties: found }) => [type, event, found])).toEqual([
    ['track', 'A', { list: [1] }],
    ['identify', undefined, undefined],
    ['track', 'B', {}],
    ['track', 'C', {}],
  ])
  expect(events[0].originalTimestamp).toBe('2026-11-20T09:30:00.000Z')
  expect(events[1].originalTimestamp).toBe('2026-11-20T09:30:01.000Z')
})

test('await putAnonymousId before initialize returns at once, and the first event carries it', async () => {
  expect(await app.client.putAnonymousId('x')).toEqual({ status: 'deferred' })
  await app.ready({ trackLifecycleEvents: true })
  const [first] = await app.queued()
  expect(first).toMatchObject({ event: 'Application Installed', anonymousId: 'x' })
})

test('a call at any moment of the end of initialize is recorded, in order', async () => {
  for (let depth = 0; depth <= 20; depth++) {
    await using ending = await TestApp.open()
    const engine = ending.device.bridge
    const { push } = engine
    const answers: unknown[] = []
    const called: Promise<void>[] = []
    engine.push = async (batch) => {
      const answer = await push.call(engine, batch)
      if (called.length) return answer
      // The answer of the engine and something that the app waits for arrive in one turn.
      let moment = Promise.resolve()
      for (let wait = 0; wait < depth; wait++) moment = moment.then(() => undefined)
      called.push(moment.then(async () => void answers.push(await ending.client.track('A'))))
      return answer
    }
    await ending.ready()
    await called[0]
    await ending.client.track('B')
    const names = (await ending.queued()).map(({ event }) => event)
    expect([depth, names, answers]).toEqual([depth, ['A', 'B'], [expect.objectContaining({})]])
  }
})

test('the 1,001st deferred call is dropped and the first 1,000 arrive', async () => {
  const results = await Promise.all(Array.from({ length: 1_001 }, (_, at) => app.client.track(`E${at}`)))
  expect(results[999]).toEqual({ status: 'deferred' })
  expect(results[1_000]).toEqual({ status: 'dropped', reason: 'BUFFER_FULL' })
  await app.ready()
  const events = await app.queued()
  expect([events.length, events[0].event, events[999].event]).toEqual([1_000, 'E0', 'E999'])
  expect((await app.client.getStatus()).dropped.buffer).toBe(1)
})

test('deferred calls hold at most 512 KiB', async () => {
  const large = { text: 'x'.repeat(30_000) }
  const results = await Promise.all(Array.from({ length: 18 }, () => app.client.track('A', large)))
  expect(results.map(({ status }) => status).filter((status) => status === 'deferred')).toHaveLength(17)
})

test('optOut(true) before initialize is stored at once; initialize then makes no id and stores no event', async () => {
  await app.client.track('A')
  expect(await app.client.optOut(true)).toEqual({ status: 'stored' })
  expect(JSON.parse(app.device.guard.get('service-sdk-cordova.guard')!)).toEqual({ tracking: 'disabled' })
  expect(await app.client.track('B')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  expect(await app.ready({ trackLifecycleEvents: true })).toMatchObject({ tracking: 'disabled' })
  expect(await app.queued()).toEqual([])
  expect((await app.device.values())['anonymousId']).toBeUndefined()
})

test('optOut(true) before initialize deletes earlier events with purge, and only with it', async () => {
  await app.ready()
  await app.client.track('A')
  await app.restart()
  await app.client.optOut(true)
  await app.ready()
  expect(await app.queued()).toHaveLength(1)
  await app.restart()
  await app.client.optOut(true)
  await app.ready({ optOutQueue: 'purge' })
  expect(await app.queued()).toEqual([])
  expect((await app.client.getStatus()).dropped.purged).toBe(1)
})

test.each([
  ['no write key', [], 'INVALID_WRITE_KEY'],
  ['a number', [42], 'INVALID_WRITE_KEY'],
  ['blanks', ['  '], 'INVALID_WRITE_KEY'],
  ['a colon', ['a:b'], 'INVALID_WRITE_KEY'],
  ['a control character', ['a\u0007b'], 'INVALID_WRITE_KEY'],
  ['no address', ['wk-1', { dataPlaneUrl: 'not a url' }], 'INVALID_DATA_PLANE_URL'],
  ['a user name', ['wk-1', { dataPlaneUrl: 'https://u:p@example.com' }], 'INVALID_DATA_PLANE_URL'],
  ['another scheme', ['wk-1', { dataPlaneUrl: 'ftp://example.com' }], 'INVALID_DATA_PLANE_URL'],
  ['an empty address', ['wk-1', { dataPlaneUrl: '' }], 'INVALID_DATA_PLANE_URL'],
  ['a number as address', ['wk-1', { dataPlaneUrl: 7 }], 'INVALID_DATA_PLANE_URL'],
])('initialize with %s rejects, and a later valid call works', async (_name, given, code) => {
  await app.client.track('A')
  const [writeKey, configuration] = given
  await expect(app.client.initialize(writeKey, configuration)).rejects.toMatchObject({
    name: 'ServiceClientError',
    code,
  })
  expect((await app.client.getStatus()).state).toBe('failed')
  await app.ready()
  expect((await app.client.getStatus()).state).toBe('ready')
  expect(await app.queued()).toHaveLength(1)
})

test('without dataPlaneUrl it resolves with a warning that is printed at every level, stores and sends nothing', async () => {
  expect(await app.client.initialize('wk-1')).toMatchObject({ warnings: ['NO_DATA_PLANE_URL'] })
  expect(app.printed.map(({ line }) => line)).toEqual(['[ServiceClient] NO_DATA_PLANE_URL'])
  await app.client.track('A')
  expect(await app.client.flush()).toMatchObject({ ok: false, sent: 0, reason: 'NO_DATA_PLANE_URL' })
})

test('a rejected initialize that nobody looks at raises no unhandled rejection', async () => {
  const raised: unknown[] = []
  const listen = (reason: unknown) => raised.push(reason)
  process.on('unhandledRejection', listen)
  void app.client.initialize(undefined)
  // Node tells of it after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', listen)
  expect(raised).toEqual([])
})

test('overlapping calls with the same key share the result; another key is refused', async () => {
  const first = app.ready()
  expect(app.ready()).toBe(first)
  await first
  expect(await app.ready({ flushQueueSize: 1 })).toBe(await first)
  await expect(app.client.initialize('wk-2')).rejects.toMatchObject({ code: 'ALREADY_INITIALIZED' })
})

test('flush before initialize says so', async () => {
  expect(await app.client.flush()).toEqual({ ok: false, sent: 0, remaining: 0, reason: 'NOT_INITIALIZED' })
})

test('without deviceready within 30 s initialize rejects, and a later call works', async () => {
  let ready: (() => void) | undefined
  await using slow = await TestApp.open({ onDeviceReady: (callback) => (ready = callback) })
  const late = slow.ready()
  slow.device.clock.advance(30_000)
  await expect(late).rejects.toMatchObject({ code: 'DEVICE_NOT_READY' })
  const again = slow.ready()
  ready!()
  await expect(again).resolves.toMatchObject({ tracking: 'enabled' })
})

test('a native part that says nothing for 3 s, or is missing, gives way to the web bridge; slow storage does not', async () => {
  await using silent = await TestApp.open({ exec: () => () => undefined })
  const initialized = silent.ready()
  await Promise.resolve()
  silent.device.clock.advance(3_000)
  await expect(initialized).resolves.toMatchObject({ warnings: expect.arrayContaining(['NATIVE_BRIDGE_MISSING']) })

  await using missing = await TestApp.open({ exec: () => (_success, error) => error('Class not found') })
  expect(await missing.ready()).toMatchObject({ warnings: expect.arrayContaining(['NATIVE_BRIDGE_MISSING']) })

  let isOpenAsked = false
  await using slow = await TestApp.open({
    exec: () => (success, _error, _service, action) => {
      if (action === 'listen') success({ t: 'hello' })
      if (action === 'open') isOpenAsked = true
    },
  })
  void slow.ready()
  await new Promise((resolve) => setImmediate(resolve))
  slow.device.clock.advance(60_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOpenAsked).toBe(true)
  expect((await slow.client.getStatus()).state).toBe('initializing')
  expect(slow.calls).toEqual([])
})

/** An app whose native part has an engine and files of its own. It says nothing while it is silent, as on a slow phone. */
async function phone(platform: 'android' | 'ios') {
  const native = new MemoryDevice()
  const part = { isSilent: false }
  const exec: Exec = (success, error, _service, action, args) => {
    if (part.isSilent) return
    if (action === 'listen') return native.bridge.listen(success)
    const engine = native.bridge as unknown as Record<string, (argument: unknown) => Promise<unknown>>
    void engine[action]!(args[0]).then(success, error)
  }
  const app = await TestApp.open({ platform, exec: () => exec })
  /** The process ends and begins again. */
  const restart = async (isSilent: boolean) => {
    await native.kill()
    await app.restart()
    part.isSilent = isSilent
  }
  return { app, native, restart }
}

/** The time that a page waits, once what it does first is done. */
async function pass(app: TestApp, ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  app.device.clock.advance(ms)
  await new Promise((resolve) => setImmediate(resolve))
}

async function notReadyWithin30Seconds(app: TestApp): Promise<void> {
  const initialized = app.ready()
  await pass(app, 29_000)
  expect((await app.client.getStatus()).state).toBe('initializing')
  app.device.clock.advance(1_000)
  await expect(initialized).rejects.toMatchObject({ code: 'DEVICE_NOT_READY' })
}

test.each(['android', 'ios'] as const)(
  'the page of an app on %s never sends past an opt-out of its native part',
  async (platform) => {
    const { app, native, restart } = await phone(platform)
    await using _app = app
    await using _native = native
    await app.ready()
    await app.client.optOut(true)
    await restart(true)
    await notReadyWithin30Seconds(app)
    expect(app.calls).toEqual([])
    await restart(false)
    expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
    expect(await app.client.track('A')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  },
)

test('localStorage.clear() by the app does not let the page send past an opt-out of its native part', async () => {
  const { app, native, restart } = await phone('android')
  await using _app = app
  await using _native = native
  await app.ready()
  await app.client.optOut(true)
  app.device.guard.clear()
  await native.stop()
  await restart(true)
  await notReadyWithin30Seconds(app)
})

test('a native part that is missing after an update does not let the page send past an opt-out', async () => {
  const { app, native } = await phone('android')
  await using _app = app
  await using _native = native
  await app.ready()
  await app.client.optOut(true)
  await using update = await TestApp.open({
    guard: (text) => app.device.pageGuard(text),
    exec: () => (_success, error) => error('Class not found'),
  })
  await expect(update.ready()).rejects.toMatchObject({ code: 'DEVICE_NOT_READY' })
})

test('an opt-out that the page kept while its native part was late reaches it at the next start, with the anonymousId', async () => {
  const { app, native, restart } = await phone('ios')
  await using _app = app
  await using _native = native
  await restart(true)
  const initialized = app.ready()
  await pass(app, 3_000)
  expect(await initialized).toMatchObject({ warnings: expect.arrayContaining(['NATIVE_BRIDGE_MISSING']) })
  await app.client.track('A')
  const { anonymousId } = await app.last()
  await app.client.optOut(true)
  await restart(false)
  expect(await app.ready()).toMatchObject({ tracking: 'disabled', storage: 'memory' })
  expect(await native.values()).toMatchObject({ tracking: 'disabled', anonymousId })
})

test('reset and put… during an initialize that finds tracking disabled are not forgotten', async () => {
  await app.ready()
  await app.client.identify('u-1')
  await app.client.optOut(true)
  await app.restart()
  const engine = app.device.bridge
  const { state } = engine
  let called: Promise<unknown> | undefined
  engine.state = async (changes) => {
    const answer = await state.call(engine, changes)
    called ??= Promise.all([app.client.reset(), app.client.putDeviceToken('t-1')])
    return answer
  }
  expect(await app.ready()).toMatchObject({ tracking: 'disabled' })
  await called
  expect((await app.device.values())['userId']).toBeUndefined()
  await app.client.optOut(false)
  await app.client.track('A')
  expect(await app.last()).toMatchObject({ context: { device: { token: 't-1' } } })
})
