import type { SourceMade } from '@millrace/dev-env'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chromium } from '../sdk/chromium.ts'
import { Dashboard, signIn } from './browser.ts'

/*
 * Tabs that nobody looks at: another one is in front of them, as it is for a person (dashboard.md §6, §13, §15 line 16). Their
 * clocks are moved on, so that nobody waits for a minute.
 */

const HIDDEN_MS = 61_000
const LATER_MS = 10 * 60_000

let dashboard: Dashboard
let chromium: Chromium
let source: SourceMade
beforeAll(async () => {
  dashboard = await Dashboard.open()
  chromium = await Chromium.open(undefined, { noDefaults: true })
  source = await dashboard.env.source({ name: 'Cinema app' })
  const { destinationId } = await dashboard.env.webhook({ source, name: 'Booking hook' })
  await send('m-first')
  await dashboard.env.journey('m-first', 'delivered', destinationId)
  const page = await chromium.page(`${dashboard.proxy.url}/ui/sign-in`)
  await signIn(page, 'owner@localhost', dashboard.env.token)
  await page.close()
})
afterAll(async () => {
  await chromium[Symbol.asyncDispose]()
  await dashboard[Symbol.asyncDispose]()
})

async function send(messageId: string): Promise<void> {
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Seat Reserved', messageId }, source.writeKey)
}

interface Tab {
  readonly page: Page
  /** Paths of its requests since it was last cleared. */
  readonly asked: string[]
  /** Paths of requests that it broke off. */
  readonly ended: string[]
}

async function tab(path: string): Promise<Tab> {
  const page = await chromium.context.newPage()
  const [asked, ended]: [string[], string[]] = [[], []]
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  page.on('requestfailed', (request) => ended.push(new URL(request.url()).pathname))
  await page.clock.install()
  await page.goto(`${dashboard.proxy.url}/ui${path}`)
  return { page, asked, ended }
}

/** Opens a tab in front of another one. */
async function inFrontOf(page: Page): Promise<Page> {
  const front = await chromium.page('about:blank')
  await front.bringToFront()
  await expect.poll(() => page.evaluate('document.visibilityState')).toBe('hidden')
  return front
}

const PAGES: readonly (readonly [path: string, has: (page: Page) => Promise<void>])[] = [
  ['/', (page) => page.getByRole('region', { name: 'Flow of events' }).getByText('Booking hook').first().waitFor()],
  ['/events', (page) => page.getByRole('row', { name: 'm-first' }).waitFor()],
  ['/destinations', (page) => page.getByRole('row', { name: 'Booking hook' }).waitFor()],
]

test.each(PAGES)('%s asks for nothing once it was hidden for 60 s, and goes on when it is shown', async (path, has) => {
  const { page, asked, ended } = await tab(path)
  await has(page)
  const front = await inFrontOf(page)
  await page.clock.runFor(HIDDEN_MS)
  if (path === '/events') await expect.poll(() => ended).toContain('/v2/tail')
  asked.length = 0
  await page.clock.runFor(LATER_MS)
  // Told of after all that were made before it.
  await page.evaluate("fetch('/ui/last')")
  expect(asked).toEqual(['/ui/last'])

  asked.length = 0
  await front.close()
  await page.bringToFront()
  await expect.poll(() => asked.filter((each) => each.startsWith('/v2/')).length).toBeGreaterThan(0)
  await page.close()
})

test('what came while nobody looked is there when somebody does', async () => {
  const { page, ended } = await tab('/events')
  await page.getByRole('row', { name: 'm-first' }).waitFor()
  const front = await inFrontOf(page)
  await page.clock.runFor(HIDDEN_MS)
  await expect.poll(() => ended).toContain('/v2/tail')
  await send('m-meanwhile')
  await front.close()
  await page.bringToFront()
  await page.getByRole('row', { name: 'm-meanwhile' }).waitFor()
  // And it is live again.
  await send('m-after')
  await page.getByRole('row', { name: 'm-after' }).waitFor()
  await page.close()
})
