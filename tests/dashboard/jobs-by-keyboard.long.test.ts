import type { SourceMade } from '@millrace/dev-env'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, type Visit } from './browser.ts'

/*
 * The ten jobs without a mouse (dashboard.md §1, §12 "Keyboard", §15 line 1). What acts is counted: Enter, Space, a chord. Moving
 * the focus is to the keyboard what moving the pointer is to the mouse.
 */

/** Of the focus, on one page. */
const MAX_STEPS = 200

const CODE = `export function transformEvent(event) {
  if (event.properties.price < 0) throw new RangeError('price below zero')
  return { ...event, cents: event.properties.price * 100 }
}
`

let dashboard: Dashboard
let source: SourceMade
let bookingId: string
let isLoyaltyUp = false
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = ({ path }) => ({ status: path === '/loyalty' && !isLoyaltyUp ? 400 : 200 })
  source = await env.source({ name: 'Cinema app' })
  const { json } = await env.api('POST', '/v2/transformations?publish=true', { name: 'Add cents', code: CODE })
  bookingId = (await env.webhook({ source, name: 'Booking hook' })).destinationId
  await env.api('PATCH', `/v2/destinations/${bookingId}`, { transformationIds: [json.transformation.id] })
  const config = { webhookUrl: `${env.sink.url}/loyalty` }
  const { destinationId: loyaltyId } = await env.webhook({ source, name: 'Loyalty', config })
  for (const n of [0, 1, 2]) await send(`below-${n}`, { price: -1 }, { integrations: { Loyalty: false } })
  for (const n of [0, 1]) await send(`above-${n}`, { price: 12, hall: n === 0 ? 'A' : 7 })
  await env.journey('below-2', 'dead_lettered', bookingId)
  await env.journey('above-1', 'delivered', bookingId)
  await env.journey('above-1', 'dead_lettered', loyaltyId)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function send(messageId: string, properties: object, fields: object = {}): Promise<void> {
  const event = { userId: 'u-4711', event: 'Seat Reserved', messageId, properties, ...fields }
  await dashboard.env.send('/v1/track', event, source.writeKey)
}

/** Home, signed in by the keyboard as well. */
async function home(): Promise<Visit> {
  const visit = await dashboard.visit('/', { token: null })
  const { page } = visit
  await focused(page.getByLabel('E-mail')).waitFor()
  await page.keyboard.type('owner@localhost')
  await page.keyboard.press('Tab')
  await page.keyboard.type(dashboard.env.token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  return visit
}

const focused = (target: Locator) => target.and(target.page().locator(':focus'))

/** Moves the focus until it is where it is wanted. */
async function reach(target: Locator, key: 'Tab' | 'Shift+Tab' | 'j' = 'Tab'): Promise<void> {
  const page = target.page()
  await target.waitFor()
  for (let step = 0; step < MAX_STEPS; step++) {
    if ((await focused(target).count()) === 1) return
    await page.keyboard.press(key)
    // A row takes the focus once it is drawn.
    if (key === 'j')
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  }
  throw new Error(`${target} was not reached in ${MAX_STEPS} steps by ${key}`)
}

async function act(visit: Visit, target: Locator, move?: Parameters<typeof reach>[1]): Promise<void> {
  await reach(target, move)
  await visit.press('Enter')
}

/** By the palette, which takes two. @param found how its entry begins. */
async function goTo(visit: Visit, words: string, found = words): Promise<void> {
  const { page } = visit
  await visit.press('Control+K')
  await focused(page.getByRole('combobox', { name: 'Search or go to' })).waitFor()
  await page.keyboard.type(words)
  await page.getByRole('option', { name: new RegExp(`^${found}`), selected: true }).waitFor()
  await visit.press('Enter')
}

/** In place of what a field holds. */
async function fill(field: Locator, text: string): Promise<void> {
  await reach(field)
  await field.page().keyboard.press('Control+A')
  await field.page().keyboard.type(text)
}

const copied = (page: Page) => page.evaluate('navigator.clipboard.readText()')

test('J1: what needs somebody stands on Home, and its way is reached by Tab', async () => {
  await using visit = await home()
  const needs = visit.page.getByRole('complementary', { name: 'Needs attention' })
  await needs.getByRole('link', { name: 'Loyalty 2 dead: answered 400' }).waitFor()
  expect(visit.clicks).toBe(0)
  await reach(needs.getByRole('link', { name: 'Loyalty' }))
})

test('J2: one chord, and an event that is sent then shows itself', async () => {
  await using visit = await home()
  const { page } = visit
  await visit.press('g e')
  await page.getByRole('row', { name: 'above-1' }).waitFor()
  await send('live-1', { price: 9 }, { integrations: { Loyalty: false } })
  await page.getByRole('row', { name: 'live-1' }).getByText('delivered').waitFor()
  expect(visit.clicks).toBe(1)
})

test('J3: two chords and a pasted id tell why an event did not arrive', async () => {
  await using visit = await home()
  await goTo(visit, 'above-0', 'Trace messageId')
  await visit.page.getByText('Given up after 1 attempt: answered 400. Last answer 400.').waitFor()
  expect(visit.clicks).toBe(2)
})

test('J5: a new destination, tried with a real event, then enabled', async () => {
  const { env } = dashboard
  await using visit = await home()
  const { page } = visit
  await goTo(visit, 'New destination')
  await act(visit, page.getByRole('link', { name: /^Webhook identify/ }))
  await fill(page.getByRole('textbox', { name: 'Name', exact: true }), 'Ticket hook')
  await fill(page.getByRole('textbox', { name: /^URL( \*)?$/ }), `${env.sink.url}/tickets`)
  await visit.press('Enter')
  await page.getByRole('heading', { name: 'Ticket hook' }).waitFor()
  await act(visit, page.getByRole('link', { name: 'Test with an event' }))
  await page.getByRole('region', { name: 'Message', exact: true }).getByText('"live-1"').waitFor()
  await reach(page.getByRole('switch', { name: 'Send' }))
  await visit.press('Space')
  await act(visit, page.getByRole('button', { name: `Send to 127.0.0.1:${env.sink.port}` }))
  await page.getByText('answered 200').waitFor()
  const enable = page.getByRole('button', { name: 'Enable', exact: true })
  await act(visit, enable, 'Shift+Tab')
  await enable.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(8)
  expect(env.sink.received.filter(({ path }) => path === '/tickets').length).toBe(1)
  const { json } = await env.api('GET', '/v2/destinations')
  expect(json.destinations.find(({ name }: { name: string }) => name === 'Ticket hook').enabled).toBe(true)
})

// Behind J5, whose form chooses the one source there is.
test('J4: write key and snippet copied, and the first event seen', async () => {
  await using visit = await home()
  const { page } = visit
  await goTo(visit, 'New source')
  await focused(page.getByLabel('Name')).waitFor()
  await page.keyboard.type('Box office')
  await visit.press('Enter')
  await page.getByText('Waiting for the first event …').waitFor()
  await act(visit, page.getByRole('button', { name: 'Copy write key' }))
  const writeKey = String(await copied(page))
  await act(visit, page.getByRole('button', { name: 'Copy snippet' }))
  expect(await copied(page)).toContain(writeKey)
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Ticket Paid' }, writeKey)
  await page.getByText('First event arrived: track Ticket Paid.').waitFor()
  expect(visit.clicks).toBe(5)
})

test('J6: from a failed event to its line of code, fixed, published', async () => {
  const { env } = dashboard
  await using visit = await home()
  const { page } = visit
  await goTo(visit, 'below-0', 'Trace messageId')
  await act(visit, page.getByRole('link', { name: 'Open code at line 2' }))
  await focused(page.getByRole('textbox', { name: 'Code', exact: true })).waitFor()
  await page.locator('.cm-activeLine').filter({ hasText: 'price below zero' }).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Shift+Home')
  await page.keyboard.type('// A price below zero is a refund.')
  // The first may close what the editor proposes; Tab leaves the editor after the other.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await act(visit, page.getByRole('button', { name: 'Publish', exact: true }), 'Shift+Tab')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Takes effect with the next event of 1 destination.').waitFor()
  await act(visit, dialog.getByRole('button', { name: 'Publish', exact: true }))
  await dialog.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(5)
  await send('refund-1', { price: -2 }, { integrations: { Loyalty: false } })
  await env.journey('refund-1', 'delivered', bookingId)
})

test('J7: all dead letters of one reason are sent again', async () => {
  isLoyaltyUp = true
  await using visit = await home()
  const { page } = visit
  await visit.press('g x')
  // The page has two tables: j goes through the rows of the one that has the focus.
  await reach(page.getByRole('row', { name: '3 at Booking hook: RangeError: price below zero' }))
  await act(visit, page.getByRole('row', { name: '2 at Loyalty: answered 400' }), 'j')
  await act(visit, page.getByRole('button', { name: 'Send all 2 again' }))
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Send 2 events again to Loyalty with the current configuration?').waitFor()
  await act(visit, dialog.getByRole('button', { name: 'Send again' }))
  await page.getByText(/^finished, \d of \d delivered$/).waitFor()
  expect(visit.clicks).toBeLessThanOrEqual(5)
  await page.getByText('2 of 2', { exact: true }).waitFor()
})

test('J8: a new destination is fed with the events of last week', async () => {
  const { env } = dashboard
  await env.webhook({ source, name: 'Fresh CRM', config: { webhookUrl: `${env.sink.url}/fresh` } })
  await using visit = await home()
  const { page } = visit
  await goTo(visit, 'Fresh CRM')
  await act(visit, page.getByRole('link', { name: 'Replay events' }))
  await act(visit, page.getByRole('button', { name: 'Count', exact: true }))
  await page.getByText(/^\d events, about 1 s at 100\/s$/).waitFor()
  await act(visit, page.getByRole('button', { name: 'Start' }))
  await page.getByText(/^finished, \d of \d delivered$/).waitFor()
  expect(visit.clicks).toBeLessThanOrEqual(6)
  const fed = env.sink.received.filter(({ path }) => path === '/fresh').map(({ json }) => json.messageId)
  expect(fed).toEqual(expect.arrayContaining(['below-0', 'above-0', 'live-1', 'refund-1']))
})

test('J9: what an event looks like, and what changed between two versions', async () => {
  await using visit = await home()
  const { page } = visit
  await visit.press('g m')
  await act(visit, page.getByRole('row', { name: 'Seat Reserved' }), 'j')
  await page.getByRole('row').filter({ hasText: 'properties.hall' }).getByText('string, float64').waitFor()
  await act(visit, page.getByRole('link', { name: 'Versions' }))
  await page
    .getByRole('region', { name: 'Differences' })
    .getByText(/^Version \d+ against version \d+$/)
    .waitFor()
  expect(visit.clicks).toBeLessThanOrEqual(4)
})

test('J10: a token is made, and revoked', async () => {
  await using visit = await home()
  const { page } = visit
  await goTo(visit, 'New access token')
  await focused(page.getByLabel('Name')).waitFor()
  await page.keyboard.type('ci')
  await visit.press('Enter')
  const shown = page.getByRole('dialog', { name: 'Your new token' })
  await act(visit, shown.getByRole('button', { name: 'I have saved it' }))
  await shown.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(4)

  await visit.press('g h')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  visit.clicks = 0
  await visit.press('g c')
  await act(visit, page.getByRole('row', { name: 'ci', exact: true }).getByRole('button', { name: 'Revoke' }))
  await act(visit, page.getByRole('dialog').getByRole('button', { name: 'Revoke' }))
  await page.getByRole('row', { name: 'ci', exact: true }).waitFor({ state: 'detached' })
  expect(visit.clicks).toBeLessThanOrEqual(4)
})
