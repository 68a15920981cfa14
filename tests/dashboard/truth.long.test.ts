import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, type Visit } from './browser.ts'
import { ProductProcess } from './product-process.ts'

/* Never green where red is true: what pages say while something is wrong, and the ways out of it. */

const HOOKS = 20
const CODE = `export function transformEvent(event) {
  const { price } = event.properties
  if (price < 0) throw new RangeError('price below zero')
  return event
}
`

let dashboard: Dashboard
let source: SourceMade
const hookIds: string[] = []
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = ({ path }) => {
    if (path === '/waits') return { status: 503 }
    return { status: path.startsWith('/wrong') ? 404 : 200 }
  }
  source = await env.source({ name: 'Cinema app' })
  for (let n = 0; n < HOOKS; n++) {
    const config = { webhookUrl: `${env.sink.url}/wrong` }
    hookIds.push((await env.webhook({ source, name: `Hook ${n}`, config })).destinationId)
  }
  await send('m-1', {})
  for (const id of hookIds) await env.journey('m-1', 'dead_lettered', id)
}, 180_000)
afterAll(() => dashboard[Symbol.asyncDispose]())

async function send(messageId: string, fields: object, to = source): Promise<void> {
  const event = { userId: 'u-1', event: 'Seat Reserved', messageId, properties: { price: 2 }, ...fields }
  await dashboard.env.send('/v1/track', event, to.writeKey)
}

const only = (...names: string[]) => ({
  integrations: { All: false, ...Object.fromEntries(names.map((name) => [name, true])) },
})
const section = ({ page }: Visit, name: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true }).last()

test('the mark in the header covers delivery, and opens the list', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  const mark = page.getByRole('link', { name: /^20 destinations need attention: Hook 0: 1 dead/ })
  await mark.waitFor()
  expect(await mark.getAttribute('data-state')).toBe('bad')
  expect(await page.getByText('Healthy').count()).toBe(0)
  await mark.click()
  await page.waitForURL('**/ui/destinations?state=attention')
  await expect.poll(() => page.getByRole('table', { name: 'Destinations' }).getAttribute('aria-rowcount')).toBe('21')
})

test('one wrong URL at 20 destinations is one row with 20, on Home and among the dead letters', async () => {
  await using visit = await dashboard.visit('/')
  const { page } = visit
  const needs = page.getByRole('complementary', { name: 'Needs attention' })
  await needs.getByRole('link', { name: '20 destinations 20 dead: answered 404' }).click()
  await page.waitForURL('**/ui/dead-letters?*')
  await section(visit, 'Dead letters').click()
  await page.getByRole('row', { name: '20 at 20 destinations: answered 404' }).click()
  await page.getByText('20 events at 20 destinations').waitFor()
  await page.getByRole('button', { name: 'Send all 20 again' }).waitFor()
})

test('a replay of which every event failed says so, in red, and leads to them', async () => {
  await using visit = await dashboard.visit(
    `/dead-letters?reason=${encodeURIComponent('answered 404')}&destinationId=${hookIds[0]}`,
  )
  const { page } = visit
  await page.getByRole('button', { name: 'Send all 1 again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.waitForURL('**/ui/replays/*')
  await page.getByText('finished, 1 of 1 failed again').waitFor()
  expect(new URL(page.url()).search).toBe('')
  expect(await page.getByText(/The link has an invalid filter/).count()).toBe(0)
  const parts = page.locator('main [role=status] [data-tone]')
  const widths = await parts.evaluateAll((all) => all.map((part) => [part.dataset.tone, part.style.width]))
  expect(widths).toEqual([
    ['plain', '0%'],
    ['idle', '0%'],
    ['bad', '100%'],
  ])
  await page.getByRole('link', { name: 'See the 1 that failed again' }).click()
  await page.getByRole('row', { name: '1 at Hook 0: answered 404' }).waitFor()
  await section(visit, 'Replays').click()
  await page.getByRole('table', { name: 'Replays' }).getByText('finished, 1 of 1 failed again').first().waitFor()
})

test('a test of a connection that is answered 404 warns, one that is refused names the credential', async () => {
  await using visit = await dashboard.visit(`/destinations/${hookIds[1]}/config`)
  const { page } = visit
  const url = page.getByRole('textbox', { name: /^URL( \*)?$/ })
  await url.fill(`${dashboard.env.sink.url}/wrong`)
  await page.getByRole('button', { name: 'Test connection' }).click()
  const warned = page.getByText(/^Reached, but it answered 404\. \d+ ms$/)
  await warned.waitFor()
  expect(await warned.locator('..').getAttribute('data-kind')).toBe('behind')
  dashboard.env.sink.answer = () => ({ status: 401 })
  await url.fill(`${dashboard.env.sink.url}/asks`)
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText(/^It requires a credential \(401\), and none was sent\./).waitFor()
  dashboard.env.sink.answer = ({ path }) => ({
    status: path === '/waits' ? 503 : path.startsWith('/wrong') ? 404 : 200,
  })
})

test('the test bench marks an answer 404 red, and its warning goes when the destination is enabled', async () => {
  const { env } = dashboard
  const { destinationId } = await env.webhook({
    source,
    name: 'New hook',
    config: { webhookUrl: `${env.sink.url}/wrong` },
  })
  await env.api('PATCH', `/v2/destinations/${destinationId}`, { enabled: false })
  await using visit = await dashboard.visit(`/test?destination=${destinationId}`)
  const { page } = visit
  await page.getByRole('region', { name: 'Message', exact: true }).getByText('"m-1"').waitFor()
  await page.getByRole('switch', { name: 'Send' }).click()
  await page.getByRole('button', { name: /^Send to 127/ }).click()
  const stage = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Delivery' }) })
  const mark = stage.getByText('404', { exact: true })
  await mark.waitFor()
  expect(await mark.locator('..').getAttribute('data-kind')).toBe('failed')
  await page.getByText('Live traffic would skip this: destination is disabled.').waitFor()
  await page.getByRole('button', { name: 'Enable', exact: true }).click()
  await page.getByText('Live traffic would skip this').waitFor({ state: 'detached' })
})

test('a source whose events go nowhere says so wherever it is shown, until it is connected', async () => {
  const loose = await dashboard.env.source({ name: 'Loose app' })
  await using visit = await dashboard.visit(`/sources/${loose.id}/setup`)
  const { page } = visit
  await page.getByText('Waiting for the first event …').waitFor()
  const sample = page.getByRole('button', { name: 'Send a sample event' })
  for (const count of [1, 2]) {
    await sample.click()
    await page.getByText(/^Sample event accepted at \d\d:\d\d:\d\d\.$/).waitFor()
    await page
      .getByText(`Not connected: ${count} event${count === 1 ? '' : 's'} stored, none delivered`)
      .waitFor({ timeout: 40_000 })
  }
  await section(visit, 'Sources').click()
  await page.getByRole('row', { name: 'Loose app' }).getByText('not connected').waitFor({ timeout: 20_000 })
  await section(visit, 'Home').click()
  const needs = page.getByRole('complementary', { name: 'Needs attention' })
  await needs.getByRole('link', { name: 'Loose app Not connected: 2 events stored, none delivered' }).click()
  await page.waitForURL(`**/ui/sources/${loose.id}/connections`)
  await page.goto(`/ui/sources/${loose.id}/events`)
  await page.getByRole('link', { name: 'Connect a destination' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).click()
  await page.getByRole('option', { name: 'Hook 3', exact: true }).click()
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText('Not connected').waitFor({ state: 'detached' })
})

test('a sample that the server does not answer says so', async () => {
  await using visit = await dashboard.visit(`/sources/${source.id}/setup`)
  const { page } = visit
  dashboard.proxy.fate = (path) => (path === '/v1/track' ? 'hold' : 'pass')
  await page.getByRole('button', { name: 'Send a sample event' }).click()
  await page.getByText(/^No answer within 10 s\./).waitFor()
  dashboard.proxy.fate = () => 'pass'
})

test('a waiting event says why, with one sentence on Home, in the list, the trace and the API', async () => {
  const { env } = dashboard
  const own = await env.source({ name: 'Box office' })
  const config = { webhookUrl: `${env.sink.url}/waits` }
  const { destinationId } = await env.webhook({ source: own, name: 'Slow CRM', config })
  for (let n = 0; n < 25; n++) await send(`w-${n}`, { userId: `u-${n}` }, own)
  await expect
    .poll(async () => (await env.api('GET', `/v2/destinations/${destinationId}/delivery`)).json.state, {
      timeout: 20_000,
    })
    .toBe('resting')
  const sentence = /Queued: destination answers 503 since \d\d:\d\d, next attempt (in \d+ s|now)/
  await using visit = await dashboard.visit('/')
  const { page } = visit
  const needs = page.getByRole('complementary', { name: 'Needs attention' })
  await needs.getByRole('link', { name: new RegExp(`^Slow CRM ${sentence.source}$`) }).waitFor()
  await page.goto(`/ui/events?source=${own.id}`)
  await page.getByRole('row', { name: 'w-24' }).getByText(sentence).waitFor()
  await page.getByRole('row', { name: 'w-24' }).click()
  await page.getByText(new RegExp(`^${sentence.source}\\.$`)).waitFor()
  await page.getByRole('link', { name: 'Open destination' }).click()
  await page.getByText(new RegExp(`^${sentence.source}\\.$`)).waitFor()
  const { json } = await env.api('GET', '/v2/events/w-24')
  expect(json.events[0].destinations[0].waiting.sentence).toMatch(
    /^Queued: destination answers 503 since \d\d:\d\d UTC/,
  )
})

test('Ctrl K takes every key from the moment it is pressed', async () => {
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await page.waitForResponse(/palette/)
  await page.keyboard.press('Control+K')
  await page.keyboard.type('g d x')
  const field = page.getByRole('combobox', { name: 'Search or go to' })
  await expect.poll(() => field.inputValue()).toBe('g d x')
  expect(new URL(page.url()).pathname).toBe('/ui/')
  // While its file is still on the way.
  dashboard.proxy.fate = (path) => (path.includes('palette') ? 'hold' : 'pass')
  await page.reload()
  await page.getByRole('region', { name: 'Flow of events' }).waitFor()
  await page.keyboard.press('Control+K')
  await page.keyboard.type('g e')
  dashboard.proxy.fate = () => 'pass'
  await expect.poll(() => field.inputValue()).toBe('g e')
  expect(new URL(page.url()).pathname).toBe('/ui/')
})

test('J6: from Home to the line of code that failed, fixed and published, in five clicks; then what failed is sent again', async () => {
  const { env } = dashboard
  const { json } = await env.api('POST', '/v2/transformations?publish=true', { name: 'Check price', code: CODE })
  const own = await env.source({ name: 'Web shop' })
  const { destinationId } = await env.webhook({ source: own, name: 'Booking hook' })
  await env.api('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [json.transformation.id] })
  for (const n of [0, 1, 2]) await send(`bad-${n}`, { properties: { price: -1 } }, own)
  await env.journey('bad-2', 'dead_lettered', destinationId)
  await using visit = await dashboard.visit('/')
  const { page } = visit
  const needs = page.getByRole('complementary', { name: 'Needs attention' })
  await visit.click(needs.getByRole('link', { name: /^Booking hook 3 dead: RangeError: price below zero/ }))
  await visit.click(page.getByRole('table', { name: 'Dead letters' }).getByRole('row', { name: 'bad-0' }))
  await visit.click(page.getByRole('link', { name: 'Open code at line 3' }))
  await page.locator('.cm-activeLine').filter({ hasText: 'price below zero' }).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Shift+Home')
  await page.keyboard.type('// A price below zero is a refund.')
  await page.keyboard.press('Escape')
  await visit.click(page.getByRole('button', { name: 'Publish', exact: true }))
  await visit.click(page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }))
  await page.getByText('3 events failed for this reason. Send again?').waitFor()
  expect(visit.clicks).toBe(5)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText('finished, 3 of 3 delivered').waitFor()
})

test('J5 within 8 clicks with several sources: the one in use is chosen', async () => {
  const { env } = dashboard
  await send('m-newest', only())
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(section(visit, 'Destinations'))
  await visit.click(page.getByRole('link', { name: 'New destination' }))
  await visit.click(page.getByRole('link', { name: /^Webhook identify/ }).first())
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ticket hook')
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill(`${env.sink.url}/tickets`)
  await page.getByText('Cinema app', { exact: true }).first().waitFor()
  await visit.click(page.getByRole('button', { name: 'Create destination' }))
  await visit.click(page.getByRole('link', { name: 'Test with an event' }))
  await page.getByRole('region', { name: 'Message', exact: true }).getByText('"messageId"').waitFor()
  await visit.click(page.getByRole('switch', { name: 'Send' }))
  await visit.click(page.getByRole('button', { name: /^Send to 127/ }))
  await page.getByText('answered 200').waitFor()
  const enable = page.getByRole('button', { name: 'Enable', exact: true })
  await visit.click(enable)
  await enable.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(8)
})

test('after a changed configuration what had failed is offered to be sent again', async () => {
  await using visit = await dashboard.visit(`/destinations/${hookIds[2]}/config`)
  const { page } = visit
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill(`${dashboard.env.sink.url}/right`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1 event failed for this reason. Send again?').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText('finished, 1 of 1 delivered').waitFor()
})

test('how many events hold a key is never more than there are, also while more come', async () => {
  const { env } = dashboard
  const map = await env.source({ name: 'Seat map' })
  const events = async () => {
    const models = (await env.api('GET', '/schemas/event-models?extras=true')).json
    return models.find(({ EventIdentifier }: { EventIdentifier: string }) => EventIdentifier === 'Map Opened')
  }
  const batch = (from: number) => ({
    batch: [0, 1, 2, 3].map((n) => ({
      type: 'track',
      event: 'Map Opened',
      userId: 'u-1',
      messageId: `map-${from + n}`,
    })),
  })
  await env.send('/v1/batch', batch(0), map.writeKey)
  await expect.poll(async () => (await events())?.TotalCount).toBe(4)
  const { EventID } = await events()
  await using visit = await dashboard.visit(`/schema/${EventID}?tab=versions`)
  const { page } = visit
  await page.getByText('4 events').first().waitFor()
  await env.send('/v1/batch', batch(4), map.writeKey)
  await expect.poll(async () => (await events()).TotalCount).toBe(8)
  // The model is known from before, its keys are counted now.
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('row').filter({ hasText: 'userId' }).getByText('8 of 8').waitFor()
  const shares = (await page.locator('main').textContent())!.matchAll(/(\d+) of (\d+)/g)
  for (const [share, held, all] of shares) expect(Number(held), share).toBeLessThanOrEqual(Number(all))
})

test('60 wrong sign-ins show on Home', async () => {
  const { env } = dashboard
  // Before them: the address of this test is refused afterwards.
  await using visit = await dashboard.visit('/')
  for (let n = 0; n < 60; n++) {
    await env.request('/v2/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'owner@localhost', token: `wrong-${n}` }),
    })
  }
  await visit.page.reload()
  const needs = visit.page.getByRole('complementary', { name: 'Needs attention' })
  const text = 'Sign-in 50 sign-ins refused in 24 h, from 1 address: too many failed attempts'
  await needs.getByRole('link', { name: text }).click()
  await visit.page.waitForURL('**/ui/settings/audit?kind=session')
})

test('the totals of the chosen time stand beside the rate at once, and outlive a restart', async () => {
  await using product = await ProductProcess.open({ MILLRACE_QUICKSTART: 'on' })
  await using visit = await product.visit('/')
  const { page } = visit
  const figure = (label: string) => page.locator('main a').filter({ hasText: label })
  await figure('Accepted in 1 h').getByText('3', { exact: true }).waitFor()
  await figure('Delivered in 1 h').getByText('3', { exact: true }).waitFor()
  const course = page.getByRole('img', { name: 'Course of Quickstart' }).first().locator('path')
  await product.stop()
  await product.start()
  await page.reload()
  await figure('Accepted in 1 h').getByText('3', { exact: true }).waitFor()
  // In the first seconds of a step of five minutes nothing is known of it.
  const drawn = async () => {
    await page.reload()
    await course.waitFor({ state: 'attached' })
    return course.getAttribute('d')
  }
  await expect.poll(drawn, { timeout: 30_000 }).toMatch(/\d/)
})
