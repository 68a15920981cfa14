import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EngineSettings } from '../core/bridge.ts'
import { MemoryDevice } from '../testing/memory-device.ts'
import { standardSettings } from '../testing/scenario.ts'
import { ScenarioServer } from '../testing/scenario-server.ts'

let server: ScenarioServer
let device: MemoryDevice
beforeEach(async () => {
  server = await ScenarioServer.open()
  device = new MemoryDevice()
})
afterEach(async () => {
  await device[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const settings = (): EngineSettings => ({ ...standardSettings(server.url), gzip: true, logLevel: 0 })
const rows = (count: number, bytes = 200) =>
  Array.from({ length: count }, (_, at) => ({ body: `{"event":"e${at + 1}","pad":"${'x'.repeat(bytes)}"}` }))

test('it is plain, and holds at most flushQueueSize events', async () => {
  await device.bridge.open(settings())
  await device.bridge.push({ rows: rows(40), state: {} })
  await device.stop()
  const [exit, rest] = server.received
  expect([exit!.gzip, exit!.events.length, exit!.writeKey]).toEqual([false, 30, 'wk-1'])
  expect([rest!.gzip, rest!.events.length]).toEqual([true, 10])
})

test('it stays within 60 KiB and takes the oldest', async () => {
  await device.bridge.open({ ...settings(), flushQueueSize: 1_000 })
  await device.bridge.push({ rows: rows(70, 1_000), state: {} })
  await device.stop()
  const [exit, rest] = server.received
  expect(exit!.bytes).toBeLessThanOrEqual(60 * 1024)
  expect(exit!.bytes).toBeGreaterThan(58 * 1024)
  expect([...exit!.events, ...rest!.events]).toEqual(Array.from({ length: 70 }, (_, at) => `e${at + 1}`))
})

test('it takes rows that are not yet committed, and they are gone from the queue once it is answered', async () => {
  await device.bridge.open(settings())
  const pushed = device.bridge.push({ rows: rows(3), state: {} })
  const stopped = device.stop()
  await Promise.all([pushed, stopped])
  expect(server.received.map(({ events }) => events)).toEqual([['e1', 'e2', 'e3']])
  expect(await device.rows()).toEqual([])
})

test('rows that were delivered or refused before are not in it', async () => {
  await device.bridge.open(settings())
  await device.bridge.push({ rows: rows(3), state: {} })
  server.follow({ poison: { events: ['e2'], status: 400, index: true } })
  await device.bridge.drain({ force: false })
  server.received = []
  await device.stop()
  expect(server.received).toEqual([])
})

test('when there is room again, rows that did not fit are copied', async () => {
  await device.bridge.open({ ...settings(), flushQueueSize: 1_000 })
  await device.bridge.push({ rows: rows(100, 1_000), state: {} })
  server.follow({ answers: [{ status: 200 }, { status: 503 }] })
  await device.stop()
  server.received = []
  server.follow({ always: { status: 200 } })
  await device.stop()
  expect(server.received[0]!.events[0]).toBe('e58')
  expect(server.received.flatMap(({ events }) => events)).toHaveLength(43)
})

test('rows that another process has left are not in it', async () => {
  await device.bridge.open(settings())
  await device.bridge.push({ rows: rows(2), state: {} })
  await device.kill()
  await device.bridge.open(settings())
  await device.bridge.push({ rows: [{ body: '{"event":"own"}' }], state: {} })
  await device.stop()
  expect(server.received[0]!.events).toEqual(['own'])
})

test.each<[string, () => Promise<unknown>]>([
  ['disabled', () => device.bridge.state({ tracking: 'disabled' })],
  ['stopped', () => stopWith(401)],
  ['the source is disabled', () => device.bridge.state({ source: '{"enabled":false}' })],
  ['under a Retry-After', () => stopWith(503, { 'Retry-After': '60' })],
  ['awaiting consent', () => device.bridge.open({ ...settings(), requireConsent: true })],
  ['without an address', () => device.bridge.open({ ...settings(), dataPlaneUrl: '' })],
])('it is not sent when %s', async (_name, prepare) => {
  await device.bridge.open(settings())
  await device.bridge.push({ rows: rows(2), state: {} })
  await prepare()
  server.received = []
  await device.stop()
  expect(server.received).toEqual([])
  expect(await device.rows()).toHaveLength(2)
})

async function stopWith(status: number, headers: Record<string, string> = {}): Promise<void> {
  server.follow({ answers: [{ status, headers }] })
  await device.bridge.drain({ force: false })
}
