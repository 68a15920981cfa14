import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Dashboard } from './browser.ts'

/* A value of a megabyte that would do harm as markup, where payloads are shown (dashboard.md §12 "Payloads", §15 line 22). */

const MARKUP = '<img src=x onerror=alert(1)><a href="javascript:alert(1)">here</a>'
const TURNED = '\u202eevil'
const END = 'the very end'
/** A megabyte in one line is laid out before anything else is done. */
const MAX_MS = 60_000
const LONG = `${MARKUP}${TURNED}${'x'.repeat(1_000_000)}${END}`

let dashboard: Dashboard
let eventId: string
let letterId: string
beforeAll(async () => {
  dashboard = await Dashboard.open({ MILLRACE_MAX_EVENT_KB: '0' })
  const { env } = dashboard
  env.sink.answer = () => ({ status: 400, body: LONG, headers: { 'Content-Type': 'text/html' } })
  const { source } = await env.webhook({ name: 'Booking hook' })
  const event = { type: 'track', userId: MARKUP, event: MARKUP, messageId: 'm-long', properties: { long: LONG } }
  await env.send('/v1/track', event, source.writeKey)
  await env.journey('m-long', 'dead_lettered')
  const models = async () => (await env.api('GET', '/schemas/event-models')).json
  await vi.waitFor(async () => expect(await models()).toHaveLength(1), { timeout: 30_000 })
  eventId = (await models())[0].EventID
  letterId = (await env.api('GET', '/v2/dead-letters')).json.deadLetters[0].id
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test.each([
  ['the trace', () => '/events/m-long'],
  ['a dead letter', () => `/dead-letters?id=${letterId}`],
  ['a sample', () => `/schema/${eventId}?tab=samples`],
])('%s shows it as text, the whole of it when it is asked for', async (_, path) => {
  await using visit = await dashboard.visit(path())
  const { page } = visit
  const opened: string[] = []
  page.on('dialog', (dialog) => {
    opened.push(dialog.message())
    void dialog.dismiss()
  })
  const payload = page.getByRole('region').filter({ hasText: '"long": ' }).last()
  await payload.waitFor()
  expect(await payload.textContent()).not.toContain(END)
  await showAll(page, payload)
  const shown = (await payload.textContent())!
  expect(shown).toContain(JSON.stringify(MARKUP).slice(1, -1))
  expect(shown).toContain('\\u202eevil')
  expect(shown).toContain(END)
  expect(await page.locator('img, a[href^="javascript:"]').count()).toBe(0)
  expect(opened).toEqual([])
})

async function showAll(page: Page, payload: Locator): Promise<void> {
  const view = page.locator('div').filter({ has: payload }).last()
  await view.getByRole('button', { name: 'Show all' }).click({ timeout: MAX_MS })
  await expect.poll(async () => (await payload.textContent())!.length, { timeout: MAX_MS }).toBeGreaterThan(1_000_000)
}
