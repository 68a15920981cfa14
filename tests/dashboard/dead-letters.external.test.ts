import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Dead letters by their reasons, one of them, and sending them again (dashboard.md §9 "Dead letters", §15 lines 1, 2, 3, 8, 30). */

let dashboard: Dashboard
let source: SourceMade
let isUp = false
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  env.sink.answer = ({ path }) => ({ status: path === '/strict' ? 422 : isUp ? 200 : 400 })
  source = await env.source({ name: 'Cinema app' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('without a dead letter the page says that every event found its end', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  await visit.page.getByText('No dead letters.').waitFor()
})

test('an outage is one row with its count, and the group, a letter and the choice stand in the link', async () => {
  const { env } = dashboard
  const booking = await env.webhook({ source, name: 'Booking hook' })
  const strict = await env.webhook({ source, name: 'Loyalty', config: { webhookUrl: `${env.sink.url}/strict` } })
  const batch = Array.from({ length: 120 }, (_, n) => ({
    type: 'track',
    event: 'Seat Reserved',
    userId: `u-${n}`,
    messageId: `m-${n}`,
  }))
  await env.send('/v1/batch', { batch }, source.writeKey)
  await env.journey('m-119', 'dead_lettered', booking.destinationId)
  await env.journey('m-119', 'dead_lettered', strict.destinationId)
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  const groups = page.getByRole('table', { name: 'Groups' })
  await groups.getByRole('row', { name: '120 at Booking hook: answered 400' }).waitFor()
  await groups.getByRole('row', { name: '120 at Loyalty: answered 422' }).click()
  await page.getByRole('heading', { name: 'answered 422' }).waitFor()
  const letters = page.getByRole('table', { name: 'Dead letters' })
  await letters.getByRole('checkbox').nth(1).check()
  await letters.getByRole('checkbox').nth(2).check()
  await page.getByRole('button', { name: 'Send 2 again' }).waitFor()
  await letters.locator('[data-row="0"]').getByText('Seat Reserved').click()
  const panel = page.getByRole('region', { name: 'Dead letter', exact: true })
  await panel.getByText('/strict').waitFor()

  await page.reload()
  await page.getByRole('button', { name: 'Send 2 again' }).waitFor()
  await panel.getByText('/strict').waitFor()
  await page.goBack()
  await panel.waitFor({ state: 'detached' })
  await page.goBack()
  await groups.getByRole('row', { name: '120 at Booking hook: answered 400' }).waitFor()
})

test('filters that leave nothing can be cleared', async () => {
  await using visit = await dashboard.visit('/dead-letters?messageId=nobody')
  await visit.page.getByText('Nothing matches these filters.').waitFor()
  await visit.page.getByRole('button', { name: 'Clear filters' }).click()
  await visit.page.getByRole('table', { name: 'Groups' }).waitFor()
})

test('a viewer sees them all and can neither send nor discard', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit('/dead-letters', { token, email: 'viewer@cinema.example' })
  expect(await visit.page.getByRole('button', { name: 'Send all 240 again' }).isDisabled()).toBe(true)
  expect(await visit.page.getByRole('button', { name: 'Discard all 240' }).isDisabled()).toBe(true)
})

test('one letter is discarded, and what is gone says so', async () => {
  await using visit = await dashboard.visit('/dead-letters?messageId=m-7&state=open')
  const { page } = visit
  await page.getByRole('table', { name: 'Dead letters' }).locator('[data-row="0"]').click()
  const panel = page.getByRole('region', { name: 'Dead letter', exact: true })
  await panel.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await panel.getByText('discarded', { exact: true }).waitFor()
  await page.goto('/ui/dead-letters?id=3MRKSLfzDIMtrXvBL0VGwaslqHY')
  await page.getByText('Dead letter 3MRKSLfzDIMtrXvBL0VGwaslqHY does not exist, or was deleted.').waitFor()
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/dead-letters', { height: 740 })
  const { page } = visit
  await page.getByRole('table', { name: 'Dead letters' }).locator('[data-row="0"]').waitFor()
  expect(await visit.flaws()).toEqual([])
  await page.getByRole('table', { name: 'Dead letters' }).locator('[data-row="0"]').click()
  await page.getByRole('region', { name: 'Dead letter', exact: true }).getByText('Last request').waitFor()
  expect(await visit.flaws()).toEqual([])
})

test('the box in the head selects all that match, and says so', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  const letters = page.getByRole('table', { name: 'Dead letters' })
  await letters.getByRole('checkbox', { name: 'Select all that match the filters' }).check()
  // More than the 100 that are loaded.
  await page.getByRole('button', { name: /^Send all 2\d\d again$/ }).waitFor()
  await page.waitForURL(/sel=all/)
})

test('a count that fails says why, and can be started again', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  const dialog = page.getByRole('dialog', { name: 'Discard' })
  const discard = page.getByRole('button', { name: /^Discard all/ })
  const retry = dialog.getByRole('button', { name: 'Retry' })
  const isCounting = () => dialog.getByText('Counting …').isVisible()

  // The dry run does not start.
  dashboard.proxy.fate = (path, method) => (method === 'POST' && path.includes('/dead-letters/') ? 503 : 'pass')
  await discard.click()
  await dialog.getByText(/^The server could not answer \(503\)/).waitFor()
  expect(await isCounting()).toBe(false)

  // It starts, and cannot be read.
  dashboard.proxy.fate = (path) => (path.includes('/v2/replays/') ? 503 : 'pass')
  await retry.click()
  await dialog.getByText(/^The server could not answer \(503\)/).waitFor()
  expect(await isCounting()).toBe(false)

  // It is cancelled before it has counted.
  await page.route('**/v2/replays/*', async (route) => {
    const response = await route.fetch()
    const { replay } = await response.json()
    await route.fulfill({ response, json: { replay: { ...replay, state: 'cancelled', matched: null } } })
  })
  dashboard.proxy.fate = () => 'pass'
  await retry.click()
  await dialog.getByText('Not counted: cancelled.').waitFor()
  expect(await isCounting()).toBe(false)

  await page.unroute('**/v2/replays/*')
  await retry.click()
  await dialog.getByText(/^Discard \d+ events of .*\? They will not be sent\.$/).waitFor()
})

test('J7: all dead letters of one reason are sent again by at most five clicks, after they were counted', async () => {
  isUp = true
  await using visit = await dashboard.visit('/')
  const { page } = visit
  const ends: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/v2/dead-letters/replay')) ends.push(request.postDataJSON().filter.to)
  })
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await visit.click(page.getByRole('navigation').getByRole('link', { name: 'Dead letters' }))
  await visit.click(page.getByRole('row', { name: /at Booking hook: answered 400$/ }))
  await visit.click(page.getByRole('button', { name: /^Send all \d+ again$/ }))
  await page.getByText(/^Send (119|120) events again to Booking hook with the current configuration\?$/).waitFor()
  await visit.click(page.getByRole('dialog').getByRole('button', { name: 'Send again' }))
  await page.getByText(/^finished, \d+ of \d+ delivered$/).waitFor()
  expect(ends).toEqual([expect.any(String), ends[0]])
  expect(visit.clicks).toBeLessThanOrEqual(5)
  await page.getByRole('navigation').getByRole('link', { name: 'Dead letters' }).click()
  await page.getByRole('row', { name: /at Loyalty: answered 422$/ }).waitFor()
  await page.getByRole('row', { name: /at Booking hook/ }).waitFor({ state: 'detached' })
})
