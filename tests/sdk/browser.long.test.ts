import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { AppPage } from './app-page.ts'
import { AppServer } from './app-server.ts'
import { Chromium } from './chromium.ts'
import { CordovaApp } from './cordova-cli.ts'
import { exampleFiles, PAGE } from './pages.ts'

/*
 * The app of the browser platform, made from the packed tarball, in a real Chromium, against the whole product with a webhook:
 * contracts/cordova-sdk.md §25 step 9, §28 items 2, 31, 43 to 45, 56 and 59.
 */

/** Cordova's own packages come from the registry. */
const MAKING_MS = 180_000

let app: CordovaApp
let www: string
let files: AppServer
let env: DevEnv
let chromium: Chromium
let webhook: Webhook

beforeAll(async () => {
  app = await CordovaApp.make('browser', { 'index.html': PAGE, ...exampleFiles() })
  www = path.join(app.folder, 'platforms/browser/www')
  mkdirSync(path.join(www, 'esm'))
  copyFileSync(path.join(app.folder, 'node_modules/service-sdk-cordova/esm/index.js'), path.join(www, 'esm/index.js'))
  writeFileSync(path.join(www, 'module.html'), MODULE_PAGE)
  writeFileSync(path.join(www, 'early.html'), EARLY_PAGE)
  env = await DevEnv.open()
  chromium = await Chromium.open()
}, MAKING_MS)
afterAll(async () => {
  await chromium?.[Symbol.asyncDispose]()
  await env?.[Symbol.asyncDispose]()
  app?.[Symbol.dispose]()
})
beforeEach(async () => {
  env.sink.clear()
  webhook = await env.webhook()
  // Another port is another origin: nothing is stored there.
  files = await AppServer.open(www)
}, MAKING_MS)
afterEach(async () => {
  await chromium.crashPages()
  await files[Symbol.asyncDispose]()
}, MAKING_MS)

const MODULE_PAGE = `<!doctype html><meta charset="utf-8"><title>Shop</title>
<script type="module">
  import { ServiceClient } from './esm/index.js'
  globalThis.ServiceClient = ServiceClient
</script>`

/** The module comes first, as a bundler would have it; cordova.js and with it the plugin's own file later. */
const EARLY_PAGE = `<!doctype html><meta charset="utf-8"><title>Shop</title>
<script type="module">
  import { ServiceClient } from './esm/index.js'
  globalThis.imported = ServiceClient
  globalThis.early = await ServiceClient.track('Early')
  const script = document.createElement('script')
  script.src = 'cordova.js'
  document.body.append(script)
</script>`

/** Sends only when it is told to, or when the page is left. */
const PATIENT = { trackLifecycleEvents: false, sleepTimeout: 3_600, flushQueueSize: 1_000 }

const open = (browser = chromium) => AppPage.open(browser, files.url)
const initialize = (page: AppPage, configuration: object = {}) =>
  page.call('initialize', webhook.source.writeKey, { dataPlaneUrl: env.url, ...PATIENT, ...configuration })
const arrived = () => env.sink.received.map(({ json }) => json.event ?? json.type)
const names = (count: number) => Array.from({ length: count }, (_, at) => `E${at + 1}`)

async function expectQuiet(page: AppPage): Promise<void> {
  expect(await page.storedKeys()).toEqual(['service-sdk-cordova.guard'])
  expect(page.errors).toEqual([])
}

test('every method arrives at the webhook, and shows in the log', async () => {
  const page = await open()
  expect(await initialize(page, { trackLifecycleEvents: true, app: { version: '3.2.0' } })).toEqual({
    storage: 'indexeddb',
    tracking: 'enabled',
    warnings: ['INSECURE_URL'],
  })
  await page.call('identify', 'u-42', { plan: 'pro' }, { externalIds: { crmId: 7 } })
  await page.call('putDeviceToken', 't-1')
  await page.call('track', 'Order Completed', { total: 39.9, coupon: null })
  await page.call('screen', 'Cart', { items: 2 })
  await page.call('group', 'acme', { employees: 120 })
  await page.call('alias', 'mira-42')
  await page.call('reset')
  const { messageId, status } = await page.call('track', 'After')
  expect(status).toBe('stored')
  expect(await page.call('flush')).toEqual({ ok: true, sent: 8, remaining: 0 })
  const events = (await env.sink.waitFor(8)).map(({ json }) => json)
  expect(events.map(({ type, event }) => [type, event])).toEqual([
    ['track', 'Application Installed'],
    ['track', 'Application Opened'],
    ['identify', undefined],
    ['track', 'Order Completed'],
    ['screen', 'Cart'],
    ['group', undefined],
    ['alias', undefined],
    ['track', 'After'],
  ])
  expect(events[3]).toMatchObject({
    channel: 'web',
    userId: 'u-42',
    properties: { total: 39.9, coupon: null },
    context: { device: { token: 't-1' }, externalId: [{ type: 'crmId', id: 7 }], traits: { plan: 'pro' } },
  })
  expect(events[4]).toMatchObject({ name: 'Cart', properties: { name: 'Cart', items: 2 } })
  expect(events[6]).toMatchObject({ userId: 'mira-42', previousId: 'u-42' })
  expect((await env.journey(messageId, 'delivered')).outcome).toBe('delivered')
  await expectQuiet(page)
})

test('events of many turns share transactions, so that 500 turns cost a few: all arrive, in order, once', async () => {
  const page = await open()
  await initialize(page)
  const { transactions, statuses } = (await page.page.evaluate(`(async () => {
    const { transaction } = IDBDatabase.prototype
    let transactions = 0
    IDBDatabase.prototype.transaction = function (...given) {
      transactions++
      return transaction.apply(this, given)
    }
    const { port1, port2 } = new MessageChannel()
    const turn = () => new Promise((resolve) => { port1.onmessage = resolve; port2.postMessage(0) })
    const calls = []
    for (const name of ${JSON.stringify(names(500))}) {
      calls.push(ServiceClient.track(name))
      await turn()
    }
    const statuses = new Set((await Promise.all(calls)).map(({ status }) => status))
    return { transactions, statuses: [...statuses] }
  })()`)) as { transactions: number; statuses: string[] }
  expect(statuses).toEqual(['stored'])
  expect(transactions).toBeLessThan(250)
  expect(await page.call('flush')).toMatchObject({ ok: true, sent: 500 })
  await env.sink.waitFor(500)
  expect(arrived()).toEqual(names(500))
  await expectQuiet(page)
})

test('a queue that is longer than an exit batch is sent without a mistake of ours', async () => {
  const page = await open()
  await initialize(page)
  await page.trackAll(names(60), { text: 'x'.repeat(1_500) })
  expect(await page.call('flush')).toMatchObject({ ok: true, sent: 60 })
  expect((await page.call('getStatus')).lastError).toBeUndefined()
  await page.trackAll(names(1))
  await expectQuiet(page)
})

test('200 events before a SIGKILL of the whole browser arrive after its restart, in order, once', async () => {
  await using killed = await Chromium.open()
  const page = await open(killed)
  await initialize(page)
  for (const name of names(200)) await page.call('track', name)
  await killed.kill()
  await using again = await Chromium.open(killed.profile)
  const later = await open(again)
  await initialize(later)
  expect((await later.call('getStatus')).queued).toBe(200)
  expect(await later.call('flush')).toMatchObject({ ok: true, sent: 200 })
  await env.sink.waitFor(200)
  expect(arrived()).toEqual(names(200))
})

test('what is recorded offline arrives once there is a network, in order, once', async () => {
  const page = await open()
  await initialize(page)
  await page.call('track', 'Before')
  await chromium.context.setOffline(true)
  await page.trackAll(names(50))
  expect(await page.call('flush')).toMatchObject({ ok: false, sent: 0, remaining: 51, reason: 'OFFLINE' })
  await chromium.context.setOffline(false)
  await env.sink.waitFor(51)
  expect(arrived()).toEqual(['Before', ...names(50)])
  await expectQuiet(page)
})

test('leaving a page delivers the last batch, and what is too much for it later', async () => {
  const page = await open()
  await initialize(page)
  await page.trackAll(names(60), { text: 'x'.repeat(1_000) })
  await page.page.goto('about:blank')
  // Of 1.5 KiB each, so that about 40 fit into 60 KiB.
  await env.sink.waitFor(30)
  expect(arrived().slice(0, 30)).toEqual(names(30))
  const later = await open()
  await initialize(later)
  expect((await later.call('getStatus')).queued).toBeGreaterThan(10)
  expect(await later.call('flush')).toMatchObject({ ok: true, remaining: 0 })
  await env.sink.until(() => new Set(arrived()).size === 60, 'all events')
  expect(new Set(arrived())).toEqual(new Set(names(60)))
})

test('closing a tab delivers its last batch', async () => {
  const page = await open()
  await initialize(page, { trackLifecycleEvents: true })
  await page.call('track', 'A')
  await page.page.close({ runBeforeUnload: false })
  await env.sink.waitFor(4)
  expect(arrived()).toEqual(['Application Installed', 'Application Opened', 'A', 'Application Backgrounded'])
})

test('an opt-out outlives the browser', async () => {
  await using killed = await Chromium.open()
  const page = await open(killed)
  await initialize(page)
  await page.call('track', 'A')
  expect(await page.call('optOut', true)).toEqual({ status: 'stored' })
  await killed.kill()
  await using again = await Chromium.open(killed.profile)
  const later = await open(again)
  expect(await initialize(later)).toMatchObject({ tracking: 'disabled' })
  expect(await later.call('track', 'B')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  expect(env.sink.received).toEqual([])
  await later.call('optOut', false)
  expect(await later.call('flush')).toMatchObject({ ok: true, sent: 1 })
  await expectQuiet(later)
})

test('a Content-Security-Policy that forbids the data plane is told in one line, and costs no event', async () => {
  files.policy = "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; connect-src 'self'"
  const page = await open()
  await initialize(page)
  await page.call('track', 'A')
  expect(await page.call('flush')).toMatchObject({ ok: false, reason: 'CSP_BLOCKED', remaining: 1 })
  await page.call('flush')
  expect((await page.call('getStatus')).lastError).toMatchObject({ code: 'CSP_BLOCKED' })
  expect(page.printed).toEqual([
    `[ServiceClient] The page's Content-Security-Policy blocks ${env.url}. Add it to connect-src.`,
  ])
  files.policy = undefined
  const later = await open()
  await initialize(later)
  expect(await later.call('flush')).toMatchObject({ ok: true, sent: 1 })
})

test('an event that the server refuses costs itself alone, and the others arrive in order', async () => {
  await using strict = await DevEnv.open({ settings: { MILLRACE_MAX_EVENT_KB: '4' } })
  const { source } = await strict.webhook()
  const page = await open()
  await page.call('initialize', source.writeKey, { ...PATIENT, dataPlaneUrl: strict.url, logLevel: 'ERROR' })
  await page.trackAll(names(14))
  const { messageId } = await page.call('track', 'Poison', { text: 'x'.repeat(8_000) })
  await page.trackAll(names(29).slice(14))
  expect(await page.call('flush')).toEqual({ ok: false, sent: 29, remaining: 0 })
  await strict.sink.waitFor(29)
  expect(strict.sink.received.map(({ json }) => json.event)).toEqual(names(29))
  expect((await page.call('getStatus')).dropped.refused).toBe(1)
  expect(page.printed).toEqual([
    `[ServiceClient] The server refused event ${messageId} with 413: Event size exceeds max limit`,
  ])
  await expectQuiet(page)
})

test('a write key that the server does not know stops sending, and keeps what is recorded', async () => {
  const page = await open()
  await page.call('initialize', 'nobody-s-key', { ...PATIENT, dataPlaneUrl: env.url })
  await page.call('track', 'A')
  expect(await page.call('flush')).toEqual({ ok: false, sent: 0, remaining: 1, reason: 'KEY_REJECTED' })
  expect(await page.call('getStatus')).toMatchObject({ sending: 'stopped', lastError: { code: 'KEY_REJECTED' } })
  await expectQuiet(page)
})

test('two open tabs deliver each event once, and know of one user and one opt-out', async () => {
  const [one, other] = [await open(), await open()]
  await initialize(one)
  await initialize(other)
  await one.call('identify', 'u-1')
  await Promise.all([one.trackAll(names(40)), other.trackAll(names(40))])
  const flushed = await Promise.all([one.call('flush'), other.call('flush')])
  expect(flushed).toMatchObject([{ ok: true }, { ok: true }])
  await env.sink.waitFor(81)
  expect(new Set(env.sink.received.map(({ json }) => json.messageId)).size).toBe(81)
  await other.call('track', 'Late')
  await other.call('flush')
  expect((await env.sink.waitFor(82)).at(-1)!.json.userId).toBe('u-1')
  await one.call('optOut', true)
  await other.page.waitForFunction("ServiceClient.getStatus().then(({ tracking }) => tracking === 'disabled')", null, {
    timeout: 1_000,
  })
  expect(await other.call('track', 'B')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  await expectQuiet(other)
})

test('the ES entry works in a page without cordova.js', async () => {
  const page = await AppPage.open(chromium, `${files.url}/module.html`)
  expect(await initialize(page)).toMatchObject({ storage: 'indexeddb', warnings: ['INSECURE_URL'] })
  await page.call('track', 'A')
  expect(await page.call('flush')).toMatchObject({ ok: true, sent: 1 })
  await expectQuiet(page)
})

test('the ES entry works before cordova.js is loaded, and is one client with the global', async () => {
  const page = await AppPage.open(chromium, `${files.url}/early.html`)
  expect(await page.page.evaluate('globalThis.early')).toEqual({ status: 'deferred' })
  await initialize(page)
  await page.page.evaluate("globalThis.imported.track('Late')")
  expect(await page.call('flush')).toMatchObject({ ok: true, sent: 2 })
  await env.sink.waitFor(2)
  expect(arrived()).toEqual(['Early', 'Late'])
  await expectQuiet(page)
})

test('the example app records and sends by its buttons, and shows what is queued and what was sent', async () => {
  const page = await AppPage.open(chromium, `${files.url}/example.html`)
  await page.page.fill('#writeKey', webhook.source.writeKey)
  await page.page.fill('#dataPlaneUrl', env.url)
  for (const name of ['initialize', 'track', 'flush']) {
    await page.page.click(`button:text-is("${name}")`)
    await page.page.waitForFunction(`document.getElementById('answers').textContent.startsWith('${name}: ')`)
  }
  await env.sink.until(() => arrived().includes('Order Completed'), 'the event')
  await page.page.waitForFunction(`document.getElementById('state').textContent === 'ready · indexeddb · enabled'`)
  const shown = await page.page.locator('#events li').allTextContents()
  expect(shown.filter((line) => line === 'Order Completedsent')).toHaveLength(1)
  await page.page.check('#checks li:first-child input')
  await page.page.reload()
  expect(await page.page.isChecked('#checks li:first-child input')).toBe(true)
  expect(await page.page.inputValue('#writeKey')).toBe(webhook.source.writeKey)
  expect(page.errors).toEqual([])
})

test('route changes become screens, and an app whose handler throws is told so itself', async () => {
  const page = await open()
  await initialize(page, { recordScreenViews: true })
  await page.page.evaluate("history.pushState({}, '', '#/cart?from=mail')")
  await page.page.evaluate("history.replaceState({}, '', '#/cart?again')")
  const failure = await page.page.evaluate(
    "(() => { try { history.pushState(() => 1, '', '#/x') } catch (error) { return error.name } })()",
  )
  expect(failure).toBe('DataCloneError')
  await page.page.evaluate("history.pushState({}, '', '/other?x=1')")
  await page.page.waitForFunction('ServiceClient.getStatus().then(({ queued }) => queued === 3)')
  await page.call('flush')
  const screens = (await env.sink.waitFor(3)).map(({ json }) => json.properties)
  expect(screens).toEqual([
    { name: '/', path: '/', title: 'Shop', automatic: true },
    { name: '/cart', path: '/cart', title: 'Shop', automatic: true },
    { name: '/other', path: '/other', title: 'Shop', automatic: true },
  ])
})
