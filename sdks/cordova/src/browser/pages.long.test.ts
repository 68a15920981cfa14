import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AppPage } from '../../../../tests/sdk/app-page.ts'
import { WebApp } from '../testing/web-app.ts'

/*
 * What only pages of a real Chromium show: tabs, leaving, visibility, transactions, memory. contracts/cordova-sdk.md §14.2, §16,
 * §20, §23, §28 items 23, 43, 44 and 56.
 */

const OPENING_MS = 60_000

let app: WebApp
beforeEach(async () => {
  app = await WebApp.open()
}, OPENING_MS)
afterEach(async () => {
  expect(await app.storedElsewhere()).toEqual([])
  await app[Symbol.asyncDispose]()
}, OPENING_MS)

const statusOf = (page: AppPage) => page.call('getStatus')
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at + 1}`)

test('flush() in a second tab waits for the drain of the first, and then has its own events sent', async () => {
  const [one, other] = [await app.page(), await app.page()]
  for (const page of [one, other]) await app.ready(page)
  await one.call('track', 'A')
  const release = app.server.hold()
  const first = one.call('flush')
  await app.untilReceived(1)
  await other.call('track', 'B')
  let isAnswered = false
  const second = other.call('flush').finally(() => {
    isAnswered = true
  })
  await other.page.waitForFunction('navigator.locks.query().then(({ pending }) => pending.length === 1)')
  expect([isAnswered, app.server.received.length]).toEqual([false, 1])
  release()
  expect(await first).toMatchObject({ ok: true })
  expect(await second).toMatchObject({ ok: true, remaining: 0 })
  expect(app.arrived().toSorted()).toEqual(['A', 'B'])
})

test('without Web Locks each tab sends the events it wrote and those it found, each once', async () => {
  const prepare = (opening: AppPage['page']) =>
    opening.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })")
  const before = await app.page(prepare)
  await app.ready(before)
  await before.trackAll(names('Found', 3))
  app.server.follow({ answers: [{ status: 503 }] })
  await before.page.goto('about:blank')
  await app.untilReceived(1)
  app.server.received = []
  const [one, other] = [await app.page(prepare), await app.page(prepare)]
  await app.ready(one)
  expect(await one.call('flush')).toMatchObject({ ok: true, sent: 3 })
  await app.ready(other)
  await Promise.all([one.trackAll(names('One', 20)), other.trackAll(names('Other', 20))])
  await Promise.all([one.call('flush'), other.call('flush')])
  expect(app.arrived().toSorted()).toEqual(
    [...names('Found', 3), ...names('One', 20), ...names('Other', 20)].toSorted(),
  )
})

test('what an exit batch sent in vain is sent again with the same messageIds, later', async () => {
  const page = await app.page()
  await app.ready(page)
  await page.trackAll(['A', 'B'])
  app.server.follow({ answers: [{ lost: true }] })
  await page.page.goto('about:blank')
  await app.untilReceived(1)
  const later = await app.page()
  await app.ready(later)
  expect(await later.call('flush')).toMatchObject({ ok: true, sent: 2 })
  const [exit, again] = app.server.received
  const idsOf = (batch: typeof exit) => batch!.whole.map(({ messageId }) => messageId)
  expect(idsOf(again)).toEqual(idsOf(exit))
  expect(Date.parse(again!.sentAt)).toBeGreaterThan(Date.parse(exit!.sentAt))
  expect([exit!.gzip, exit!.writeKey]).toEqual([false, 'wk-1'])
})

test('hiding, leaving and coming back send Backgrounded and Opened in turn, each once', async () => {
  const page = await app.page()
  await app.ready(page, { trackLifecycleEvents: true })
  const tell = (isHidden: boolean, ...events: readonly string[]) =>
    page.page.evaluate(`(() => {
      Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
      ${events.join(';')}
    })()`)
  const visibility = "document.dispatchEvent(new Event('visibilitychange'))"
  const leaving = "dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
  const comingBack = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
  await tell(true, visibility, leaving)
  await tell(false, comingBack, visibility)
  await tell(true, leaving, visibility)
  await tell(false, visibility)
  await page.call('flush')
  // What leaves in an exit batch and is asked for at the same time may come twice, under the same messageId.
  const all = () => [
    ...new Map(app.server.received.flatMap(({ whole }) => whole).map((event) => [event.messageId, event])).values(),
  ]
  await expect
    .poll(() => all().map(({ event }) => event))
    .toEqual([
      'Application Installed',
      'Application Opened',
      'Application Backgrounded',
      'Application Opened',
      'Application Backgrounded',
      'Application Opened',
    ])
  const opened = all().filter(({ event }) => event === 'Application Opened')
  expect(opened.map(({ properties }) => properties.from_background)).toEqual([false, true, true])
})

test('500 events of one turn are one transaction', async () => {
  const page = await app.page((opening) => opening.addInitScript(COUNT_WRITES))
  await app.ready(page)
  await page.page.evaluate('void (globalThis.writes = 0)')
  await page.trackAll(names('E', 500))
  expect(await page.page.evaluate('globalThis.writes')).toBe(1)
  expect((await statusOf(page)).queued).toBe(500)
})

const COUNT_WRITES = `globalThis.writes = 0
const { transaction } = IDBDatabase.prototype
IDBDatabase.prototype.transaction = function (...given) {
  if (given[1] === 'readwrite') globalThis.writes++
  return transaction.apply(this, given)
}`

test('10,000 queued events hold no text in the page beyond the 60 KiB that leaving needs', async () => {
  const page = await app.page()
  await app.ready(page, { dataPlaneUrl: null })
  const session = await app.chromium.context.newCDPSession(page.page)
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage')
    return (await session.send('Runtime.getHeapUsage')).usedSize
  }
  // Code is compiled and its caches are filled by the first ones.
  await page.trackAll(names('Warm', 500))
  const before = await heap()
  for (let burst = 0; burst < 19; burst++) await page.trackAll(names(`E${burst}-`, 500), { text: 'x'.repeat(500) })
  expect((await statusOf(page)).queued).toBe(10_000)
  const grown = (await heap()) - before
  // Their bodies are 10 MB; what stays are 9,500 numbers that say which rows are this tab's.
  expect(grown).toBeLessThan(1_500_000)
})

test('an exit batch says what it is, and the batch that repeats its rows says so', async () => {
  const page = await app.page()
  await app.ready(page)
  await page.trackAll(['A', 'B'])
  await page.page.goto('about:blank')
  await app.untilReceived(1)
  const later = await app.page()
  await app.ready(later)
  await later.call('track', 'C')
  await later.call('flush')
  await later.call('track', 'D')
  await later.call('flush')
  expect(app.server.received.map(({ attempt, events }) => [attempt, ...events])).toEqual([
    ['exit', 'A', 'B'],
    ['repeat', 'A', 'B', 'C'],
    ['first', 'D'],
  ])
})

test('a CompressionStream that fails: the batch goes uncompressed, and the log says why', async () => {
  const page = await app.page((opening) =>
    opening.addInitScript("globalThis.CompressionStream = class { constructor() { throw new Error('broken') } }"),
  )
  await app.ready(page, { logLevel: 'ERROR' })
  await page.call('track', 'A', { text: 'x'.repeat(2_000) })
  expect(await page.call('flush')).toMatchObject({ ok: true, sent: 1 })
  expect(app.server.received.map(({ gzip }) => gzip)).toEqual([false])
  expect((await statusOf(page)).lastError).toMatchObject({ code: 'INTERNAL', detail: 'broken' })
  expect(page.printed).toEqual(['[ServiceClient] INTERNAL broken'])
})

test('a row that cannot be read is passed over, told once, and the others are sent', async () => {
  const page = await app.page()
  await app.ready(page, { logLevel: 'WARN' })
  await page.call('track', 'A')
  await page.page.evaluate(`new Promise((resolve, reject) => {
    const request = indexedDB.open('service-sdk-cordova')
    request.onerror = reject
    request.onsuccess = () => {
      const transaction = request.result.transaction('events', 'readwrite')
      transaction.objectStore('events').add({ writeKey: 'wk-1', size: 7, body: 7 })
      transaction.oncomplete = resolve
    }
  })`)
  await page.call('track', 'B')
  await page.call('flush')
  await page.call('track', 'C')
  await page.call('flush')
  expect(app.arrived()).toEqual(['A', 'B', 'C'])
  expect((await statusOf(page)).lastError).toMatchObject({ code: 'STORAGE_CORRUPT' })
  expect(page.printed.filter((line) => line.includes('STORAGE_CORRUPT'))).toHaveLength(1)
})
