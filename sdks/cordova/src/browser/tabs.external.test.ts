import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AppPage } from '../../../../tests/sdk/app-page.ts'
import { WebApp } from '../testing/web-app.ts'

/* What one tab delivers or purges, another does not send when it is left: contracts/cordova-sdk.md §16, §20 */

const OPENING_MS = 60_000

let app: WebApp
beforeEach(async () => {
  app = await WebApp.open()
}, OPENING_MS)
afterEach(() => app[Symbol.asyncDispose](), OPENING_MS)

const purging = { optOutQueue: 'purge' }
const withoutDatabase = (opening: AppPage['page']) =>
  opening.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })")

/** Messages of a tab arrive in their order: a tab that follows its opt-outs has heard all that it told before. */
async function optOutAndIn(tab: AppPage, follower: AppPage): Promise<void> {
  for (const [isOptOut, tracking] of [
    [true, 'disabled'],
    [false, 'enabled'],
  ]) {
    await tab.call('optOut', isOptOut)
    await follower.page.waitForFunction(`ServiceClient.getStatus().then((status) => status.tracking === '${tracking}')`)
  }
}

const batches = () => app.server.received.map(({ attempt, events }) => [attempt, ...events])

test('a row that another tab delivered is not in the exit batch', async () => {
  const [one, other] = [await app.page(), await app.page()]
  for (const tab of [one, other]) await app.ready(tab)
  await other.call('track', 'A')
  expect(await one.call('flush')).toMatchObject({ ok: true, sent: 1 })
  await optOutAndIn(one, other)
  await other.call('track', 'B')
  await other.page.goto('about:blank')
  await app.untilReceived(2)
  expect(batches()).toEqual([
    ['repeat', 'A'],
    ['exit', 'B'],
  ])
})

test('a row that another tab purged is not in the exit batch', async () => {
  const [one, other] = [await app.page(), await app.page()]
  for (const tab of [one, other]) await app.ready(tab, purging)
  await other.call('track', 'A')
  await optOutAndIn(one, other)
  await other.call('track', 'B')
  await other.page.goto('about:blank')
  await app.untilReceived(1)
  expect(batches()).toEqual([['exit', 'B']])
})

test('a purge in one tab deletes the rows in the memory of another', async () => {
  const [one, other] = [await app.page(), await app.page(withoutDatabase)]
  for (const tab of [one, other]) await app.ready(tab, purging)
  expect(await other.call('track', 'A')).toMatchObject({ status: 'memory' })
  await optOutAndIn(one, other)
  expect(await other.call('flush')).toEqual({ ok: true, sent: 0, remaining: 0 })
  expect((await other.call('getStatus')).dropped.purged).toBe(1)
  expect(batches()).toEqual([])
})

test('a row in memory that another tab delivered leaves the rows in memory of this tab in the exit batch', async () => {
  const [one, other] = [await app.page(withoutDatabase), await app.page(withoutDatabase)]
  for (const tab of [one, other]) await app.ready(tab)
  await one.call('track', 'A')
  await other.call('track', 'B')
  expect(await one.call('flush')).toMatchObject({ ok: true, sent: 1 })
  await optOutAndIn(one, other)
  await other.page.goto('about:blank')
  await app.untilReceived(2)
  expect(batches()).toEqual([
    ['first', 'A'],
    ['exit', 'B'],
  ])
})
