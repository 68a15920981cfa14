import { ADDRESS, type ClientPage, HOST, KEY } from '@millrace/dashboard/client-page'
import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pageOf } from '../clients/pages.ts'
import { Dashboard, type Visit } from './browser.ts'

/* Setup of a source of every type (dashboard.md §2, §15 lines 9 and 10). */

/** By source type: the page of docs/clients that Setup shows first. */
const FIRST_PAGES: Readonly<Record<string, string>> = {
  Cordova: 'cordova',
  Javascript: 'web-analytics-next',
  Android: 'kotlin',
  iOS: 'swift',
  ReactNative: 'react-native',
  Flutter: 'flutter',
  Node: 'node',
  Python: 'python',
  Go: 'go',
  Java: 'java',
  Ruby: 'ruby',
  PHP: 'php',
  DotNet: 'dotnet',
  Kotlin: 'kotlin',
  Swift: 'swift',
  Rust: 'rust',
  Unity: 'dotnet',
  AMP: 'pixel',
  Shopify: 'webhook',
  HTTP: 'http',
  Pixel: 'pixel',
  Webhook: 'webhook',
}
const ARRIVAL_MS = 1000

let dashboard: Dashboard
let types: readonly string[]
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { text } = await dashboard.env.api('POST', '/v2/sources', { name: 'No type', type: 'None' })
  types = /known are ([\w, ]+)/.exec(text)![1]!.split(', ')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('setup of every type of source shows the code of its page, with the write key and the address filled in', async () => {
  expect([...types].sort()).toEqual(Object.keys(FIRST_PAGES).sort())
  await using visit = await dashboard.visit('/sources')
  for (const type of types) {
    const source = await dashboard.env.source({ type })
    await visit.go(`/sources/${source.id}/setup`)
    const page = await pageOf(`${FIRST_PAGES[type]}.md`)
    await expectCode(visit, page, source, type)
  }
})

async function expectCode(visit: Visit, page: ClientPage, { writeKey }: SourceMade, type: string): Promise<void> {
  const { proxy } = dashboard
  const shown = (await visit.page.getByLabel('Code for the first event').filter({ hasText: writeKey }).textContent())!
  const host = new URL(proxy.url).host
  expect(shown, type).toContain(host)
  const emptied = shown.replaceAll(proxy.url, ADDRESS).replaceAll(host, HOST).replaceAll(writeKey, KEY)
  expect(emptied, type).toBe(page.code)
  const note = visit.page.getByText('This library supports https only.')
  expect(await note.count(), type).toBe(page.needsTls ? 1 : 0)
  const install = visit.page.getByLabel('Install')
  expect(await install.allTextContents(), type).toEqual(page.install === undefined ? [] : [page.install])
}

test('setup with many snippets: axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  const { id } = await dashboard.env.source({ type: 'Javascript' })
  await using visit = await dashboard.visit(`/sources/${id}/setup`)
  await visit.page.getByLabel('Code for the first event').waitFor()
  expect(await visit.flaws()).toEqual([])
})

test('the first event of a source is shown within a second of being sent', async () => {
  const { writeKey, id } = await dashboard.env.source({ type: 'Python' })
  await using visit = await dashboard.visit(`/sources/${id}/setup`)
  const { page } = visit
  await page.getByText('Waiting for the first event …').waitFor()
  const sentAt = performance.now()
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Ticket Paid' }, writeKey)
  await page.getByText('First event arrived: track Ticket Paid.').waitFor({ timeout: ARRIVAL_MS })
  expect(performance.now() - sentAt).toBeLessThan(ARRIVAL_MS)
})
