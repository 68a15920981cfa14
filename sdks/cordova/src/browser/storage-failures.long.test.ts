import { globSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AppPage } from '../../../../tests/sdk/app-page.ts'
import { WebApp } from '../testing/web-app.ts'

/*
 * IndexedDB and localStorage of a real Chromium, failing in each way they can: contracts/cordova-sdk.md §21, §28 items 51, 52
 * and 56. Whatever happens the app hears of no error, later events are recorded and arrive, and one line tells.
 */

const OPENING_MS = 60_000
const LOUD = { logLevel: 'ERROR' }

let app: WebApp
beforeEach(async () => {
  app = await WebApp.open()
}, OPENING_MS)
afterEach(async () => {
  expect(await app.storedElsewhere()).toEqual([])
  await app[Symbol.asyncDispose]()
}, OPENING_MS)

/** An event is recorded, told of and delivered although `code` has happened. @param before what is queued already. */
async function expectGoingOn(page: AppPage, code: string, status: 'stored' | 'memory', before = 0): Promise<void> {
  expect(await page.call('track', 'Later')).toMatchObject({ status })
  expect(await page.call('getStatus')).toMatchObject({
    state: 'ready',
    storage: status === 'stored' ? 'indexeddb' : 'memory',
    queued: before + 1,
    lastError: { code },
  })
  expect(await page.call('flush')).toEqual({ ok: true, sent: before + 1, remaining: 0 })
  expect(app.arrived().at(-1)).toBe('Later')
  expect(page.printed.filter((line) => line.includes(code))).toHaveLength(1)
  expect(page.errors).toEqual([])
}

test('without IndexedDB events are kept in memory', async () => {
  const page = await app.page((opening) => opening.addInitScript(NO_INDEXED_DB))
  expect(await app.ready(page, LOUD)).toMatchObject({ storage: 'memory' })
  await expectGoingOn(page, 'STORAGE_OPEN', 'memory')
})

const NO_INDEXED_DB = "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })"

test('where IndexedDB and localStorage are forbidden events and opt-out are kept in memory', async () => {
  const page = await app.page((opening) => opening.addInitScript(FORBIDDEN))
  expect(await app.ready(page, LOUD)).toMatchObject({ storage: 'memory' })
  await page.call('optOut', true)
  expect(await page.call('track', 'A')).toEqual({ status: 'dropped', reason: 'OPTED_OUT' })
  await page.call('optOut', false)
  await expectGoingOn(page, 'STORAGE_IO', 'memory')
  expect(page.printed.map((line) => line.split(' ')[1])).toEqual(['STORAGE_OPEN', 'STORAGE_IO'])
  await page.page.close()
})

const FORBIDDEN = `for (const name of ['indexedDB', 'localStorage']) {
  Object.defineProperty(globalThis, name, { get() { throw new DOMException('forbidden', 'SecurityError') } })
}`

test('a database of a later version is left as it is, and events are kept in memory', async () => {
  const earlier = await app.page()
  await earlier.page.evaluate(openedBy(7, "request.result.createObjectStore('later').put('kept', 'key')"))
  for (const run of ['first', 'second']) {
    const page = await app.page()
    expect(await app.ready(page, LOUD), run).toMatchObject({ storage: 'memory' })
    await expectGoingOn(page, 'STORAGE_OPEN', 'memory')
  }
  expect(
    await earlier.page.evaluate(
      `${openedBy(7, '')}.then((database) => [database.version, [...database.objectStoreNames]])`,
    ),
  ).toEqual([7, ['later']])
})

test('a database without its object stores is made anew, and events are stored', async () => {
  const earlier = await app.page()
  await earlier.page.evaluate(openedBy(1, ''))
  await earlier.page.close()
  const page = await app.page()
  expect(await app.ready(page, LOUD)).toMatchObject({ storage: 'indexeddb' })
  await expectGoingOn(page, 'STORAGE_CORRUPT', 'stored')
})

test('a database that another page keeps the browser from opening is waited for 5 s, then memory', async () => {
  const other = await app.page()
  await other.page.evaluate(openedBy(1, ''))
  // Waits until the connection above is closed, and everyone who opens the database waits behind it.
  await other.page.evaluate("void indexedDB.deleteDatabase('service-sdk-cordova')")
  const page = await app.page((opening) => opening.clock.install())
  const initialized = app.ready(page, LOUD)
  await page.page.waitForFunction("ServiceClient.getStatus().then(({ state }) => state === 'initializing')")
  await page.page.clock.fastForward(5_000)
  expect(await initialized).toMatchObject({ storage: 'memory' })
  await expectGoingOn(page, 'STORAGE_OPEN', 'memory')
})

/** An expression for a page: the database, opened by somebody else. */
function openedBy(version: number, upgrade: string): string {
  return `new Promise((resolve, reject) => {
    const request = indexedDB.open('service-sdk-cordova', ${version})
    request.onupgradeneeded = () => { ${upgrade} }
    request.onsuccess = () => resolve(globalThis.opened = request.result)
    request.onerror = () => reject(request.error)
  })`
}

test('beyond the quota events are kept in memory, and those that are stored arrive before them', async () => {
  const page = await app.page()
  await app.limitStorage(page, 1_000_000)
  await app.ready(page, LOUD)
  const names: string[] = []
  for (let status = 'stored'; status === 'stored'; ) {
    names.push(`E${names.length + 1}`)
    ;({ status } = await page.call('track', names.at(-1), { text: 'x'.repeat(20_000) }))
    expect(names.length).toBeLessThan(1_000)
  }
  const { dropped, queued } = await page.call('getStatus')
  // Whether a browser without room lets anything be deleted is its own affair.
  expect(dropped.trimmed + queued).toBe(names.length)
  await expectGoingOn(page, 'STORAGE_FULL', 'memory', queued)
  expect(app.arrived()).toEqual([...names.slice(dropped.trimmed), 'Later'])
})

test('files of the database that are damaged cost what they held, and neither id nor opt-out', async () => {
  const before = await app.page()
  await app.ready(before)
  await before.call('putAnonymousId', 'a-1')
  await before.call('track', 'Lost')
  await before.call('optOut', true)
  await app.restart((profile) => {
    const files = globSync(path.join(profile, '**/IndexedDB/*.leveldb/*'))
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) writeFileSync(file, 'damaged'.repeat(1_000))
  })
  const page = await app.page()
  expect(await app.ready(page, LOUD)).toMatchObject({ tracking: 'disabled' })
  await page.call('optOut', false)
  await page.call('track', 'Later')
  expect(await page.call('flush')).toEqual({ ok: true, sent: 1, remaining: 0 })
  expect(app.server.received.map(({ events, anonymousId }) => [events, anonymousId])).toEqual([[['Later'], 'a-1']])
  expect(page.errors).toEqual([])
})

test('a folder of the database that cannot be read or written means memory, until it can', async () => {
  const before = await app.page()
  await app.ready(before)
  await app.restart((profile) => {
    const [folder] = globSync(path.join(profile, '**/IndexedDB'))
    rmSync(folder!, { recursive: true })
    writeFileSync(folder!, 'in the way')
  })
  const page = await app.page()
  expect(await app.ready(page, LOUD)).toMatchObject({ storage: 'memory' })
  await expectGoingOn(page, 'STORAGE_OPEN', 'memory')
  await app.restart((profile) => rmSync(globSync(path.join(profile, '**/IndexedDB'))[0]!))
  expect(await app.ready(await app.page(), LOUD)).toMatchObject({ storage: 'indexeddb' })
})
