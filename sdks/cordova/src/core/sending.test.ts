import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'
import { isEnabled } from './source/source-watch.ts'

/* When drains begin, and the source configuration: contracts/cordova-sdk.md §14.2, §14.3, §17, §28 items 34, 40, 46 to 49 */

let app: TestApp
beforeEach(async () => {
  app = await TestApp.open()
})
afterEach(() => app[Symbol.asyncDispose]())

const drains = () => app.calls.filter((call) => call === 'drain').length
test('500 events of one turn are one call of the bridge', async () => {
  await app.ready({ flushQueueSize: 1_000, trackLifecycleEvents: true })
  await app.until(() => app.calls.includes('tail'))
  app.calls.length = 0
  await Promise.all(Array.from({ length: 500 }, (_, at) => app.client.track(`E${at}`)))
  expect(app.calls).toEqual(['push'])
})

test('with a threshold of 100 and 150 calls the newest 100 remain, with one warning a minute', async () => {
  app.server.follow({ always: { status: 503 } })
  await app.ready({ dbThresholdCount: 100, logLevel: 'WARN' })
  const warnings = () => app.warnings().filter((line) => line.includes('were deleted')).length
  for (let at = 0; at < 150; at++) await app.client.track(`E${at}`)
  expect((await app.queued()).map(({ event }) => event)).toEqual(Array.from({ length: 100 }, (_, at) => `E${at + 50}`))
  expect((await app.client.getStatus()).dropped.trimmed).toBe(50)
  expect(warnings()).toBe(1)
  app.device.clock.advance(60_000)
  await app.client.track('Last')
  expect(warnings()).toBe(2)
})

test('a full batch goes at once, a partial one after sleepTimeout', async () => {
  await app.ready({ flushQueueSize: 2, sleepTimeout: 10 })
  await app.client.track('A')
  app.device.clock.advance(9_999)
  expect(drains()).toBe(0)
  app.device.clock.advance(1)
  expect(drains()).toBe(1)
  await app.until(async () => (await app.client.getStatus()).sending === 'idle')
  void app.client.track('B')
  await app.client.track('C')
  expect(drains()).toBe(2)
})

test('events of an earlier run go after sleepTimeout', async () => {
  await app.ready()
  await app.client.track('A')
  await app.restart()
  await app.ready({ sleepTimeout: 10 })
  app.device.clock.advance(10_000)
  expect(drains()).toBe(1)
})

test('after a failure the next drain is when the engine said, and a return of the network is at once', async () => {
  await app.ready({ flushQueueSize: 1 })
  app.server.follow({ answers: [{ status: 503 }, { status: 503 }] })
  await app.client.track('A')
  await app.client.flush()
  const before = drains()
  app.device.clock.advance(1_499)
  expect(drains()).toBe(before)
  expect((await app.client.getStatus()).sending).toBe('waiting')
  await app.device.network(true)
  expect(drains()).toBe(before + 1)
})

test('a refused key stops, and a source configuration that is enabled starts again', async () => {
  app.server.follow({ answers: [{ status: 401 }], config: { status: 401 } })
  await app.ready({ configRefreshInterval: 1, sleepTimeout: 10 })
  await app.until(async () => (await app.client.getStatus()).lastError !== undefined)
  await app.client.track('A')
  expect(await app.client.flush()).toMatchObject({ ok: false, reason: 'KEY_REJECTED', remaining: 1 })
  expect(await app.client.getStatus()).toMatchObject({ sending: 'stopped', lastError: { code: 'KEY_REJECTED' } })
  app.server.follow({ config: { status: 200, headers: { ETag: '"v1"' }, body: '{"source":{"enabled":true}}' } })
  app.device.clock.advance(3_600_000)
  await app.until(async () => (await app.client.getStatus()).sending === 'idle')
  app.device.clock.advance(10_000)
  await app.until(async () => (await app.client.getStatus()).queued === 0)
  expect(drains()).toBe(2)
})

test('when only the events of a former write key are refused, new ones are sent', async () => {
  await app.ready()
  await app.client.track('A')
  await app.restart()
  app.server.follow({ answers: [{ status: 401 }] })
  await app.client.initialize('wk-2', { dataPlaneUrl: app.server.url, trackLifecycleEvents: false, sleepTimeout: 10 })
  expect(await app.client.flush()).toMatchObject({ ok: false, reason: 'KEY_REJECTED', remaining: 1 })
  await app.client.track('B')
  app.device.clock.advance(10_000)
  await app.until(() => app.server.received.length === 2)
  expect(app.server.received.map(({ events, writeKey }) => [events, writeKey])).toEqual([
    [['A'], 'wk-1'],
    [['B'], 'wk-2'],
  ])
})

test('what a drain leaves to others is asked for again after sleepTimeout, not at once', async () => {
  const { bridge } = app.device
  const report = { storage: 'memory' as const, dropped: { trimmed: 0, refused: 0, purged: 0 } }
  bridge.drain = async () => ({ sent: 0, remaining: 5, outcome: 'EMPTY', report })
  await app.ready({ flushQueueSize: 2, sleepTimeout: 10 })
  void app.client.track('A')
  await app.client.track('B')
  await app.until(async () => (await app.client.getStatus()).queued === 5)
  expect(drains()).toBe(1)
  app.device.clock.advance(10_000)
  expect(drains()).toBe(2)
})

test('the source configuration is fetched with the key, revalidated by ETag, kept over restarts and refreshed', async () => {
  app.server.follow({ config: { status: 200, headers: { ETag: '"v1"' }, body: '{"source":{}}' } })
  await app.ready({ configRefreshInterval: 1 })
  await app.until(async () => (await app.client.getStatus()).config.source === 'network')
  const [first] = app.server.configRequests
  expect(first!.url).toBe('/sourceConfig?p=browser&v=1.4.0')
  expect(first!.headers).toMatchObject({ authorization: 'Basic d2stMTo=' })
  expect(first!.headers['if-none-match']).toBeUndefined()
  expect((await app.client.getStatus()).config).toEqual({ source: 'network', at: '2026-11-20T09:30:00.000Z' })
  app.device.clock.advance(3_600_000)
  await app.until(() => app.server.configRequests.length === 2)
  expect(app.server.configRequests[1]!.headers['if-none-match']).toBe('"v1"')
  await app.restart()
  app.server.follow({ config: { lost: true } })
  await app.ready()
  expect((await app.client.getStatus()).config.source).toBe('cache')
})

test('without an answer it is asked for three times, 2 and 4 s apart, and then with the next refresh', async () => {
  app.server.follow({ config: { status: 503 } })
  const timers: number[] = []
  const after = app.device.clock.after.bind(app.device.clock)
  app.device.clock.after = (delayMs, callback) => {
    // Those of the requests themselves are not of interest.
    if (delayMs !== 10_000) timers.push(delayMs)
    return after(delayMs, callback)
  }
  await app.ready({ configRefreshInterval: 1 })
  for (const [at, ms] of [2_000, 4_000, 3_600_000].entries()) {
    await app.until(() => timers.length === at + 1)
    app.device.clock.advance(ms)
  }
  expect(timers).toEqual([2_000, 4_000, 3_600_000])
  await app.until(() => app.server.configRequests.length === 4)
})

test('a disabled source drops calls at once and keeps stored events, also over a restart', async () => {
  await app.ready({ configRefreshInterval: 1 })
  await app.client.track('A')
  app.server.follow({ config: { status: 200, body: '{"source":{"enabled":false}}' } })
  await app.restart()
  await app.ready()
  await app.until(async () => (await app.client.getStatus()).config.source === 'network')
  expect(await app.client.track('B')).toEqual({ status: 'dropped', reason: 'SOURCE_DISABLED' })
  expect((await app.queued()).map(({ event }) => event)).toEqual(['A'])
  await app.restart()
  app.server.follow({ config: { lost: true } })
  await app.ready()
  expect(await app.client.track('C')).toEqual({ status: 'dropped', reason: 'SOURCE_DISABLED' })
})

test.each([
  ['write key', 'wk-2', '127.0.0.1'],
  ['control plane', 'wk-1', 'localhost'],
])('a source that was disabled does not stop the events of another %s, also offline', async (_name, writeKey, host) => {
  app.server.follow({ config: { status: 200, headers: { ETag: '"v1"' }, body: '{"source":{"enabled":false}}' } })
  await app.ready()
  await app.until(async () => (await app.client.getStatus()).config.source === 'network')
  await app.restart()
  app.server.follow({ config: { lost: true } })
  app.server.configRequests = []
  await app.client.track('A')
  const controlPlaneUrl = app.server.url.replace('127.0.0.1', host)
  await app.client.initialize(writeKey, { dataPlaneUrl: app.server.url, controlPlaneUrl, trackLifecycleEvents: false })
  expect(await app.client.track('B')).toMatchObject({ status: 'stored' })
  expect((await app.client.getStatus()).config).toEqual({ source: 'none' })
  expect(await app.client.flush()).toMatchObject({ ok: true, sent: 2 })
  expect(app.server.configRequests.map(({ headers }) => headers['if-none-match']).filter(Boolean)).toEqual([])
})

test('a refused source configuration is told, and sending goes on', async () => {
  app.server.follow({ config: { status: 401 } })
  await app.ready()
  await app.until(async () => (await app.client.getStatus()).lastError !== undefined)
  expect((await app.client.getStatus()).lastError).toMatchObject({ code: 'KEY_REJECTED' })
  await app.client.track('A')
  expect(await app.client.flush()).toMatchObject({ ok: true, sent: 1 })
})

test('factories are never called and cost one line', async () => {
  const factory = {
    name: 'X',
    create: () => {
      throw new Error('called')
    },
  }
  await app.ready({ factories: [factory], logLevel: 'DEBUG' })
  expect(app.printed.filter(({ line }) => line.includes('factories'))).toHaveLength(1)
})

test('destinations of a source configuration change no event and drop none', async () => {
  const destination = {
    name: 'Amplitude',
    enabled: false,
    config: { eventFilteringOption: 'whitelistedEvents', whitelistedEvents: [{ eventName: 'B' }] },
  }
  await app.ready()
  await app.client.track('A', { price: 3 }, { integrations: { Amplitude: true } })
  const { integrations, properties } = await app.last()
  app.server.follow({ config: { status: 200, body: JSON.stringify({ source: { destinations: [destination] } }) } })
  await app.restart()
  await app.ready()
  await app.until(async () => (await app.client.getStatus()).config.source === 'network')
  await app.client.track('A', { price: 3 }, { integrations: { Amplitude: true } })
  expect(await app.last()).toMatchObject({ event: 'A', integrations, properties })
  expect(await app.client.flush()).toMatchObject({ ok: true, sent: 2 })
})

test('DEBUG is one line a batch with its count, bytes, status and time; VERBOSE is the events as well', async () => {
  await app.ready({ logLevel: 'DEBUG' })
  await Promise.all([app.client.track('A'), app.client.track('B')])
  await app.client.flush()
  const batches = () => app.printed.map(({ line }) => line).filter((line) => line.includes('batch of'))
  expect(batches()).toEqual([expect.stringMatching(/^\[ServiceClient\] batch of 2 events, \d+ bytes: 200 in 0 ms$/)])
  expect(app.printed.filter(({ line }) => line.includes('messageId'))).toEqual([])
  await app.restart()
  await app.ready({ logLevel: 'VERBOSE' })
  await app.client.track('C')
  await app.client.flush()
  expect(app.printed.filter(({ line }) => line.includes('"event":"C"'))).toHaveLength(1)
})

test('neither the write key nor the Authorization header is printed at any level', async () => {
  await app.client.initialize('secret-key', { dataPlaneUrl: app.server.url, logLevel: 'VERBOSE' })
  app.server.follow({ answers: [{ status: 400 }, { status: 401 }] })
  await app.client.track('A')
  await app.client.flush()
  const printed = app.printed.map(({ line }) => line).join('\n')
  expect(printed).toContain('KEY_REJECTED')
  expect(printed).not.toMatch(/secret-key|Authorization|Basic /)
})

test('1,000 random mutations of a source configuration cause no exception', () => {
  const whole = JSON.stringify({ source: { enabled: true, destinations: [{ id: 'd', config: {} }] } })
  const seed = Math.floor(Math.random() * 2 ** 31)
  let state = seed
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  for (let mutation = 0; mutation < 1_000; mutation++) {
    const at = random(whole.length)
    const piece = ['', '[', '}', 'null', '"', '0', String.fromCharCode(random(300))][random(7)]!
    const text = whole.slice(0, at) + piece + whole.slice(at + random(5))
    expect([true, false, undefined], `seed ${seed}, ${text}`).toContain(isEnabled(text))
  }
})

test.each([
  ['{}', true],
  ['{"source":{"enabled":"false"}}', true],
  ['{"source":{"enabled":false}}', false],
  ['{"source":null}', true],
  ['[]', undefined],
  ['null', undefined],
  ['<html>', undefined],
  [undefined, undefined],
])('a source configuration %s reads as %s', (body, expected) => {
  expect(isEnabled(body)).toBe(expected)
})

test('a drain that throws is logged, told by getStatus, and tried again after a growing wait', async () => {
  await app.ready({ logLevel: 'ERROR', sleepTimeout: 1 })
  const engine = app.device.bridge
  const { drain } = engine
  let tries = 0
  Object.assign(engine, { drain: async () => Promise.reject(new Error(`fault ${++tries}`)) })
  await app.client.track('A')
  for (const waitMs of [1_000, 3_000, 6_000, 12_000]) {
    await app.device.advance(waitMs)
    await app.until(async () => (await app.client.getStatus()).sending === 'waiting')
  }
  expect(tries).toBe(4)
  expect(await app.client.getStatus()).toMatchObject({ lastError: { code: 'INTERNAL', detail: 'fault 4' }, queued: 1 })
  expect(app.printed.map(({ line }) => line)).toContain('[ServiceClient] fault 1')
  expect(await app.client.flush()).toMatchObject({ ok: false, reason: 'RETRY_LATER' })
  Object.assign(engine, { drain })
  await app.device.advance(48_000)
  await app.until(() => app.server.received.length === 1)
})

test('an engine that takes no more calls drops the call and says why', async () => {
  await app.ready({ logLevel: 'ERROR' })
  await app.client.identify('u-1')
  const engine = app.device.bridge
  const { push } = engine
  Object.assign(engine, { push: async () => Promise.reject({ code: 'QUEUE_FULL', detail: '10,000 calls wait' }) })
  expect(await app.client.identify('u-2')).toEqual({ status: 'dropped', reason: 'QUEUE_FULL' })
  expect(app.printed.at(-1)!.line).toContain('QUEUE_FULL')
  Object.assign(engine, { push })
  await app.client.track('A')
  await app.restart()
  await app.ready()
  await app.client.track('B')
  // The event is lost; who the user is, is not.
  expect((await app.last()).userId).toBe('u-2')
})

test.each([
  ['flush', () => app.client.flush()],
  ['optOut', () => app.client.optOut(true)],
])('track() answers as its push does when %s() follows in the same turn', async (_name, follow) => {
  await app.ready()
  await app.device.fault('full')
  const kept = app.client.track('A')
  await follow()
  expect(await kept).toMatchObject({ status: 'memory' })
  await app.client.optOut(false)
  Object.assign(app.device.bridge, { push: async () => Promise.reject({ code: 'QUEUE_FULL', detail: '' }) })
  const lost = app.client.track('B')
  await follow()
  expect(await lost).toEqual({ status: 'dropped', reason: 'QUEUE_FULL' })
})

test('flush() answers within 30 s of a server that hangs, and the drain goes on', async () => {
  await app.ready()
  await app.client.track('A')
  const release = app.server.hold()
  const flushed = app.client.flush()
  await app.until(() => app.server.received.length === 1)
  for (let second = 0; second < 29; second++) {
    await app.device.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await flushed).toMatchObject({ ok: false, reason: 'RETRY_LATER', remaining: 1 })
  release()
  await app.until(async () => (await app.client.getStatus()).queued === 0)
})

test('state that the engine cannot read is not carried over to later pushes, other state is', async () => {
  await app.ready()
  const engine = app.device.bridge
  const { push } = engine
  for (const [code, userId] of [
    ['BAD_ARGUMENT', undefined],
    ['INTERNAL', 'u-1'],
  ]) {
    await app.client.reset()
    Object.assign(engine, { push: async () => Promise.reject({ code, detail: '' }) })
    expect(await app.client.identify('u-1')).toEqual({ status: 'dropped' })
    Object.assign(engine, { push })
    expect(await app.client.track('A')).toMatchObject({ status: 'stored' })
    expect((await app.device.values())['userId']).toBe(userId)
  }
})
