import type { SourceMade } from '@millrace/dev-env'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Past and live events, and the trace of one (dashboard.md §6, §15 lines 2, 3, 14, 15, 17, 18, 22, 29, 30). */

let dashboard: Dashboard
let source: SourceMade
let hook: string
let refused: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = ({ path }) => ({ status: path === '/refused' ? 400 : 200 })
  source = await env.source({ name: 'Cinema app' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function send(messageId: string, fields: object = {}): Promise<void> {
  const event = { userId: 'u-4711', event: 'Seat Reserved', messageId, ...fields }
  await dashboard.env.send('/v1/track', event, source.writeKey)
}

const rowOf = (page: Page, messageId: string) => page.getByRole('row', { name: new RegExp(`\\b${messageId}$`) })
const searchOf = (page: Page) => new URL(page.url()).search

test('while there is no event the page says how to send one, and shows it when it comes', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await page.getByText('No events yet. Send one:').waitFor()
  const told = await page.locator('main pre').textContent()
  expect(told).toContain(`-u "${source.writeKey}:"`)
  await send('m-first')
  await rowOf(page, 'm-first').waitFor()
})

test('J2: one click from Home, and an event that is sent then shows itself and what it came to', async () => {
  hook = (await dashboard.env.webhook({ source, name: 'Booking hook' })).destinationId
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('navigation').getByRole('link', { name: 'Events' }))
  await rowOf(page, 'm-first').waitFor()
  await send('m-live', { event: 'Ticket Paid' })
  await rowOf(page, 'm-live').getByText('delivered').waitFor()
  expect(visit.clicks).toBe(1)
})

test('filters, paused and open panel stand in the link, and Back, reload and another browser give the same view', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-first').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Ticket Paid')
  await rowOf(page, 'm-first').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Live' }).click()
  await rowOf(page, 'm-live').click()
  await page.getByRole('region', { name: 'Event m-live' }).getByText('track · Ticket Paid').waitFor()
  expect(searchOf(page)).toBe('?name=Ticket+Paid&live=off&event=m-live')

  await page.reload()
  await page.getByRole('region', { name: 'Event m-live' }).getByText('track · Ticket Paid').waitFor()
  await page.getByRole('button', { name: 'Paused' }).waitFor()
  await page.goBack()
  await page.getByRole('region', { name: 'Event m-live' }).waitFor({ state: 'detached' })
  expect(searchOf(page)).toBe('?name=Ticket+Paid&live=off')

  await using other = await dashboard.visit('/events?name=Ticket+Paid&live=off&event=m-live&outcome=lost')
  await other.page.getByText('The link has an invalid filter (outcome). It is ignored.').waitFor()
  await other.page.getByRole('region', { name: 'Event m-live' }).getByText('track · Ticket Paid').waitFor()
  await rowOf(other.page, 'm-live').waitFor()
  expect(await other.page.getByRole('row').count()).toBe(2)
})

test('what matches nothing says so, and the filters can be cleared', async () => {
  await using visit = await dashboard.visit('/events?user=nobody')
  const { page } = visit
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await rowOf(page, 'm-live').waitFor()
  expect(searchOf(page)).toBe('')
})

test('Space pauses: new events wait, and are shown when they are asked for', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-live').waitFor()
  await page.locator('main').focus()
  await visit.press('Space')
  await page.getByRole('button', { name: 'Paused' }).waitFor()
  await send('m-paused')
  await page.getByRole('button', { name: '1 new' }).click()
  await rowOf(page, 'm-paused').waitFor()
  await page.getByRole('button', { name: 'Live' }).waitFor()
})

test('j and Enter open the trace, c copies the messageId, Esc closes', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-live').waitFor()
  await visit.press('j')
  await visit.press('j')
  await visit.press('c')
  const copied = await page.evaluate('navigator.clipboard.readText()')
  await visit.press('Enter')
  await page.getByRole('region', { name: `Event ${copied}` }).waitFor()
  await visit.press('Escape')
  await page.getByRole('region', { name: `Event ${copied}` }).waitFor({ state: 'detached' })
  expect(searchOf(page)).toBe('')
})

test('J3: two clicks and a pasted id tell why an event did not arrive, which comes first and open; sent again it arrives', async () => {
  const { env } = dashboard
  const made = await env.webhook({ source, name: 'Loyalty', config: { webhookUrl: `${env.sink.url}/refused` } })
  refused = made.destinationId
  await env.webhook({ name: 'Elsewhere' })
  await send('m-dead')
  await env.journey('m-dead', 'dead_lettered', refused)
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await visit.press('Control+K')
  await page.getByRole('combobox').fill('m-dead')
  await page.getByText('Trace messageId "m-dead"').waitFor()
  await visit.press('Enter')
  await page.getByText('Given up after 1 attempt: answered 400. Last answer 400.').waitFor()
  expect(visit.clicks).toBe(2)
  const lanes = await page.locator('details').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
  expect(lanes).toEqual(['Loyalty', 'Booking hook'])
  await page.getByText('Not connected to this source now.').waitFor()

  await page.getByRole('button', { name: 'Show each step' }).first().click()
  await page.getByRole('region', { name: 'request body' }).getByText('"Seat Reserved"').waitFor()
  // Made by what governed it, as the server says, and not by a trial with what holds today.
  expect(await page.getByText('With the current configuration').count()).toBe(0)
  env.sink.answer = () => ({ status: 200 })
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Given up after').waitFor({ state: 'detached' })
  const lane = page.locator('details[aria-label="Loyalty"]')
  await lane.getByText(/^200 after \d attempts?, .+ after acceptance\.$/).waitFor()
})

test('what an event leaves out itself says so and leads to its payload', async () => {
  await send('m-out', { integrations: { All: false } })
  await dashboard.env.journey('m-out', 'filtered', hook)
  await using visit = await dashboard.visit('/events/m-out')
  const { page } = visit
  const lane = page.locator('details[aria-label="Booking hook"]')
  await lane.getByText('The event excludes this destination (integrations).').waitFor()
  await lane.getByRole('button', { name: 'Show in payload' }).click()
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('event')
})

test('what a disabled destination did not get can be sent now, once it is enabled', async () => {
  const { env } = dashboard
  await env.api('PATCH', `/v2/destinations/${hook}`, { enabled: false })
  await send('m-disabled')
  await env.journey('m-disabled', 'filtered', hook)
  await env.api('PATCH', `/v2/destinations/${hook}`, { enabled: true })
  await using visit = await dashboard.visit('/events/m-disabled')
  const { page } = visit
  const lane = page.locator('details[aria-label="Booking hook"]').first()
  await lane.getByText('The destination was disabled when the event was accepted.').waitFor()
  await lane.getByRole('button', { name: 'Send now' }).click()
  await page.getByText('Sent again as a replay: finished, 1 of 1 delivered.').waitFor()
  await page.locator('details[aria-label="Booking hook"]').getByText('delivered', { exact: true }).first().waitFor()
})

test('a time is told in UTC when it is pointed at or has the focus, and copied so', async () => {
  const { json } = await dashboard.env.api('GET', '/v2/events?limit=1')
  const { messageId, acceptedAt } = json.events[0]
  await using visit = await dashboard.visit(`/events/${encodeURIComponent(messageId)}`)
  const { page } = visit
  const time = page.locator(`time[datetime="${acceptedAt}"]`).first()
  await time.hover()
  await page.getByRole('tooltip', { name: acceptedAt }).waitFor()
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  const focused = page.locator(`time[datetime="${acceptedAt}"]:focus`)
  for (let n = 0; n < 100 && (await focused.count()) === 0; n++) await page.keyboard.press('Tab')
  await page.getByRole('tooltip', { name: acceptedAt }).waitFor()
  await time.selectText()
  await page.keyboard.press('Control+c')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(acceptedAt)
})

test('an unknown messageId leads to the refused requests', async () => {
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Lost' }, 'aaaaaaaaaaaaaaaaaaaaaaaaaaa')
  await using visit = await dashboard.visit('/events/m-nowhere')
  const { page } = visit
  await page
    .getByText('No event with messageId m-nowhere found. It was not accepted, or its trace has expired.')
    .waitFor()
  await page.getByRole('button', { name: 'See refused requests' }).click()
  await page.getByRole('row').getByText('aaaa…').waitFor()
})

test('markup, marks that turn text, and a megabyte are shown as text', async () => {
  const nasty = '<img src=x onerror=alert(1)>\u202e javascript:alert(1)'
  await send('m-nasty', { event: nasty, properties: { long: 'x'.repeat(30_000), markup: nasty } })
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-nasty').getByText('<img src=x onerror=alert(1)>\\u202e').click()
  await page.getByRole('region', { name: 'Event m-nasty' }).getByText('"markup"').waitFor()
  expect(await page.locator('img').count()).toBe(0)
})

test('over 50 a second the page says how many are missing', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-live').waitFor()
  const batch = Array.from({ length: 90 }, (_, n) => ({
    type: 'track',
    event: 'Burst',
    userId: 'u',
    messageId: `b-${n}`,
  }))
  await dashboard.env.send('/v1/batch', { batch }, source.writeKey)
  await page.getByText(/^\d+ not shown: more than 50 a second\. Narrow the filter to see all\.$/).waitFor()
})

test('who comes when 20 watch already is told, and sees new events all the same', async () => {
  using _ = await watchers(20)
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await page.getByText('The live view is full (20 viewers). New events are loaded every 5 s.').waitFor()
  await send('m-polled')
  await rowOf(page, 'm-polled').waitFor()
})

/** So many live views. The places of pages that have just been left become free a moment later. */
async function watchers(count: number): Promise<Disposable> {
  const { env } = dashboard
  const ending = new AbortController()
  const request = { headers: { Authorization: `Bearer ${env.token}` }, signal: ending.signal }
  // Whose answer nobody holds any more is no watcher for long.
  const watching: Response[] = []
  const tryOneMore = async () => {
    const answer = await fetch(`${env.url}/v2/tail`, request)
    if (answer.ok) watching.push(answer)
    else await answer.arrayBuffer()
    return watching.length
  }
  await expect.poll(tryOneMore, { timeout: 10_000, interval: 10 }).toBe(count)
  return { [Symbol.dispose]: () => ending.abort() }
}

test('without a connection the rows stay, and come up to date by themselves', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await rowOf(page, 'm-polled').waitFor()
  dashboard.proxy.fate = () => 'cut'
  dashboard.proxy.breakAll()
  await page.getByText(/No connection to the server\. Retrying in \d s\./).waitFor()
  await rowOf(page, 'm-polled').waitFor()
  await send('m-meanwhile')
  dashboard.proxy.fate = () => 'pass'
  await rowOf(page, 'm-meanwhile').waitFor()
})

test('a server that cannot answer is named with its request', async () => {
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/events') ? 503 : 'pass')
  await using visit = await dashboard.visit('/events')
  await visit.page.getByText('The server could not answer (503). Request req-1.').waitFor()
  dashboard.proxy.fate = () => 'pass'
  await visit.page.getByRole('button', { name: 'Retry' }).click()
  await rowOf(visit.page, 'm-polled').waitFor()
})

test('a viewer sees the trace, and sends nothing', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit('/events/m-disabled', { token, email: 'viewer@cinema.example' })
  expect(await visit.page.getByRole('button', { name: 'Send now' }).isDisabled()).toBe(true)
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  for (const path of ['/events', '/events?event=m-dead', '/events/m-dead']) {
    await using visit = await dashboard.visit(path, { height: 740 })
    await visit.page
      .getByText(path === '/events' ? 'Seat Reserved' : 'Accepted')
      .first()
      .waitFor()
    expect([path, await visit.flaws()]).toEqual([path, []])
  }
})
