import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../e2e/command.ts'
import { Dashboard } from './browser.ts'

/* A message through the stages of a destination, or of all of a source (dashboard.md §7, §15 lines 20 to 22, J5). */

let dashboard: Dashboard
let source: { id: string; writeKey: string }
let hook: string
let other: string
let transformationId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = () => ({ status: 202, body: '{"accepted":true}', headers: { 'content-type': 'application/json' } })
  source = await env.source({ name: 'Cinema app' })
  hook = (await env.webhook({ source, name: 'Booking hook', config: { headers: SECRET_HEADERS } })).destinationId
  other = (await env.webhook({ source, name: 'Loyalty' })).destinationId
  const made = await env.api('POST', '/v2/transformations?publish=true', { name: 'Add cents', code: CODE })
  transformationId = made.json.transformation.id
  await env.api('PATCH', `/v2/destinations/${hook}`, { transformationIds: [transformationId] })
  await env.send('/v1/track', { ...EVENT, messageId: 'm-live' }, source.writeKey)
  await env.journey('m-live', 'delivered', hook)
  await env.journey('m-live', 'delivered', other)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const SECRET = 'Bearer of-the-cinema-4711'
const SECRET_HEADERS = [{ from: 'Authorization', to: SECRET, secret: true }]
const EVENT = { type: 'track', userId: 'u-1', event: 'Seat Reserved', properties: { price: 18.5 } }
const CODE = `export function transformEvent(event) {
  log('price', event.properties?.price)
  if (event.event === 'Dropped') return null
  if (event.event === 'Broken') throw new RangeError('price below zero')
  return { ...event, properties: { ...event.properties, cents: event.properties.price * 100 } }
}
`
const received = () => dashboard.env.sink.received.length

async function write(page: Page, message: unknown): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Message', exact: true })
  await editor.click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(typeof message === 'string' ? message : JSON.stringify(message))
}

test('it begins with the newest event; nothing is sent, and every stage is shown', async () => {
  const before = received()
  await using visit = await dashboard.visit(`/test?destination=${hook}`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  const stages = page.getByRole('region', { name: 'Stages', exact: true })
  await stages.getByRole('link', { name: 'Add cents' }).waitFor()
  await stages.getByText('"cents": 1850').waitFor()
  await stages.getByText('Log: price 18.5').waitFor()
  const requests = page.getByRole('region', { name: 'Request and response' })
  await requests.getByText('POST').waitFor()
  expect(await requests.textContent()).toContain('********')
  expect(await page.content()).not.toContain(SECRET)
  await requests.getByText('not sent').waitFor()
  expect(received()).toBe(before)
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({ destination: hook, event: 'm-live' })
})

test('it sends only when switched on in that visit, naming the host', async () => {
  await using visit = await dashboard.visit(`/test?destination=${hook}`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('switch', { name: 'Send' }).click()
  const before = received()
  await page.getByRole('button', { name: `Send to 127.0.0.1:${dashboard.env.sink.port}` }).click()
  await page.getByText('answered 202').waitFor()
  await page.getByText('"accepted"').waitFor()
  expect(received()).toBe(before + 1)
  await page.reload()
  await page.getByRole('button', { name: 'Run without sending' }).waitFor()
  expect(await page.getByRole('switch', { name: 'Send' }).isChecked()).toBe(false)
})

test('a source runs all of its destinations, and says to how many it would send', async () => {
  await using visit = await dashboard.visit(`/test?source=${source.id}`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('switch', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Send to 2 destinations' }).waitFor()
  await page.getByRole('switch', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByRole('button', { name: 'Loyalty ran' }).click()
  await page.getByText('skipped: nothing to do').first().waitFor()
  await page.getByRole('button', { name: 'Booking hook ran' }).click()
  await page.getByText('"cents": 1850').first().waitFor()
})

test.each([
  ['Dropped', 'dropped', 'returned nothing'],
  ['Broken', 'error', 'RangeError: price below zero'],
])('an event %s: the stage says so, the later ones are skipped', async (event, word, text) => {
  await using visit = await dashboard.visit(`/test?destination=${hook}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await write(page, { ...EVENT, event })
  await page.getByRole('button', { name: 'Run without sending' }).click()
  const stages = page.getByRole('region', { name: 'Stages', exact: true })
  await stages.getByText(word, { exact: true }).waitFor()
  await stages.getByText(text).first().waitFor()
  await stages.getByText('skipped: an earlier stage failed').waitFor()
})

test('a message that is no JSON is marked and cannot be run; Ctrl Enter runs one that is', async () => {
  await using visit = await dashboard.visit(`/test?destination=${hook}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await write(page, '{"type": nothing}')
  expect(await page.getByRole('button', { name: 'Run without sending' }).isDisabled()).toBe(true)
  await page.locator('.cm-lint-marker-error').waitFor()
  await page.getByText("Line 1, column 10: Unexpected token 'o'").waitFor()
  await page.getByText('Correct the message to run it.').waitFor()
  await write(page, { type: 'nonsense' })
  await page.keyboard.press('Control+Enter')
  await page.getByText('message type is unsupported').waitFor()
})

test('live traffic would skip it: the reason is said on top; force is preset for a disabled destination', async () => {
  const { destinationId } = await dashboard.env.webhook({ source, name: 'Old hook' })
  await dashboard.env.api('PATCH', `/v2/destinations/${destinationId}`, { enabled: false })
  await using visit = await dashboard.visit(`/test?destination=${destinationId}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  expect(await page.getByRole('checkbox', { name: 'Force' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText('Live traffic would skip this: destination is disabled.').waitFor()
  await page.getByRole('checkbox', { name: 'Force' }).click()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText(`Destination with id ${destinationId} is disabled`).waitFor()
  await dashboard.env.api('DELETE', `/v2/destinations/${destinationId}?cascade=true&discard=true`)
})

test('the batch that live traffic would make, and the rule that would leave the message out, are said on top', async () => {
  const { env } = dashboard
  const own = await env.source({ name: 'Box office' })
  const { destinationId, connectionId } = await env.webhook({ source: own, name: 'Lists', config: { batchSize: 50 } })
  const rules = { list: [{ action: 'deny', types: ['track'], events: { match: 'prefix', names: ['Seat'] } }] }
  await env.api('PATCH', `/v2/connections/${connectionId}`, { rules })
  await using visit = await dashboard.visit(`/test?destination=${destinationId}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText('In live traffic one request carries up to 50 events.').waitFor()
  await page.getByText(/^Live traffic of Box office would skip this: connection rule 1 \(deny track .*Seat/).waitFor()
  await env.api('DELETE', `/v2/destinations/${destinationId}?cascade=true&discard=true`)
})

test('an example is shown until the first event arrives, and never while the message of the link loads', async () => {
  const { env, proxy } = dashboard
  const own = await env.source({ name: 'Ticket app' })
  const { destinationId } = await env.webhook({ source: own, name: 'Turnstiles' })
  {
    await using visit = await dashboard.visit('/sources')
    const { page } = visit
    proxy.fate = (path) => (path.startsWith('/v2/events/m-live') ? 'hold' : 'pass')
    const noEvents = page.waitForResponse((answer) => answer.url().includes(`sourceId=${own.id}`))
    await visit.go(`/test?destination=${destinationId}&event=m-live`)
    await (await noEvents).finished()
    await page.locator('.cm-content').waitFor()
    expect(await page.getByText('"u-4711"').count()).toBe(0)
    proxy.fate = () => 'pass'
    await page.getByText('"price": 18.5').first().waitFor()
  }
  await using visit = await dashboard.visit(`/test?destination=${destinationId}`)
  const { page } = visit
  await page.getByText('"userId": "u-4711"').waitFor()
  await env.send('/v1/track', { ...EVENT, messageId: 'm-first' }, own.writeKey)
  await page.getByText('"messageId": "m-first"').first().waitFor()
  await env.api('DELETE', `/v2/destinations/${destinationId}?cascade=true&discard=true`)
})

test('overrides stand in for the saved configuration in this run, and name their host', async () => {
  await using visit = await dashboard.visit(`/test?destination=${other}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('button', { name: 'Overrides' }).click()
  await page.getByLabel('Overrides', { exact: true }).fill('{"webhookUrl": "https://staging.cinema.example/in"}')
  await page.getByRole('switch', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Send to staging.cinema.example' }).waitFor()
  await page.getByRole('switch', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText('https://staging.cinema.example/in').last().waitFor()
  expect(page.url()).not.toContain('staging')
})

test('a saved fixture passes `millrace test` unchanged and holds no secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-fixture-'))
  try {
    await using visit = await dashboard.visit(`/test?destination=${hook}&event=m-live`)
    const { page } = visit
    await page.getByText('"price": 18.5').first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as fixture' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('track-seat-reserved-to-booking-hook.millrace-test.yaml')
    const file = join(folder, download.suggestedFilename())
    await download.saveAs(file)
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain(SECRET)
    const env = { MILLRACE_URL: dashboard.env.url, MILLRACE_TOKEN: dashboard.env.token }
    const config = join(folder, 'millrace.yaml')
    expect((await command(['pull', '--file', config], env)).code).toBe(0)
    const tested = await command(['test', file, '--config', config], env)
    expect(tested.out).toContain('2 passed')
    expect(tested.code).toBe(0)
    // Back in the bench, its message is what was saved.
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('Message of “track Seat Reserved to Booking hook (user)”').waitFor()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a viewer runs without sending: send and overrides are disabled with the reason', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit(`/test?destination=${hook}&event=m-live`, {
    token,
    email: 'viewer@cinema.example',
  })
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  expect(await page.getByRole('switch', { name: 'Send' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Overrides' }).isDisabled()).toBe(true)
  await page.getByRole('switch', { name: 'Send' }).hover({ force: true })
  await page.getByText('Needs the role editor.').waitFor()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText('"cents": 1850').first().waitFor()
})

test('nothing chosen, an unknown destination, an unknown event, a bad value: each has its words', async () => {
  await using visit = await dashboard.visit('/test?colour=red')
  const { page } = visit
  await page.getByText('Choose a destination and a message.').waitFor()
  await page.getByText('The link has an invalid filter (colour). It is ignored.').waitFor()
  await page.goto('/ui/test?destination=3nYVQeCTUeuJkM9lAjxVjmbtYyv')
  await page.getByText('Destination 3nYVQeCTUeuJkM9lAjxVjmbtYyv does not exist, or was deleted.').waitFor()
  await page.goto(`/ui/test?destination=${hook}&event=nowhere`)
  await page
    .getByText('No event with messageId nowhere found. It was not accepted, or its trace has expired.')
    .waitFor()
})

test('hostile texts show as text', async () => {
  await using visit = await dashboard.visit(`/test?destination=${other}&event=m-live`)
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  const big = 'x'.repeat(1_000_000)
  await write(page, {
    ...EVENT,
    properties: { a: '<img src=x onerror=alert(1)>', b: 'javascript:alert(1)', c: '‮evil', big },
  })
  await page.getByRole('button', { name: 'Run without sending' }).click()
  const requests = page.getByRole('region', { name: 'Request and response' })
  await requests.getByText('<img src=x onerror=alert(1)>').waitFor()
  await requests.getByText('\\u202eevil').waitFor()
  await requests.getByRole('button', { name: 'Show all' }).waitFor()
  expect(await requests.locator('img, a').count()).toBe(0)
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit(`/test?destination=${hook}&event=m-live`, { height: 740 })
  const { page } = visit
  await page.getByText('"price": 18.5').first().waitFor()
  await page.getByRole('button', { name: 'Run without sending' }).click()
  await page.getByText('"cents": 1850').first().waitFor()
  expect(await visit.flaws()).toEqual([])
  // A narrow window shows one part at a time.
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByText('Requests', { exact: true }).click()
  expect(await visit.flaws()).toEqual([])
})
