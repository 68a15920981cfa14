import type { Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Replays of the log and jobs over dead letters (contracts/dashboard.md §9, §15 lines 1, 2, 8, 27, 30). */

let dashboard: Dashboard
let first: Webhook
let added: string
/** The log begins here. */
let acceptedAt: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  first = await env.webhook({ source: await env.source({ name: 'Cinema app' }), name: 'Booking hook' })
  const batch = Array.from({ length: 40 }, (_, n) => ({
    type: 'track',
    event: 'Paid',
    userId: 'u',
    messageId: `m-${n}`,
  }))
  await env.send('/v1/batch', { batch }, first.source.writeKey)
  await env.journey('m-39', 'delivered')
  acceptedAt = (await env.api('GET', '/v2/events/m-0')).json.events[0].acceptedAt
  added = (await env.webhook({ source: first.source, name: 'New CRM' })).destinationId
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** What a person would write into the fields: a range that holds all events. */
const link = (fields: Record<string, string> = {}) => {
  const to = new Date(Date.now() + 60_000).toISOString()
  return `/replays/new?${new URLSearchParams({ destinations: added, sources: first.source.id, from: acceptedAt, to, ...fields })}`
}

test('without a job the page says so', async () => {
  await using visit = await dashboard.visit('/replays')
  await visit.page.getByText('No replays yet.').waitFor()
})

test('a range older than the log is refused, and the oldest time is offered', async () => {
  await using visit = await dashboard.visit(link({ from: '2020-01-01T00:00:00.000Z' }))
  const { page } = visit
  // A log that has everything since its beginning refuses no range: this one says that it has dropped some.
  const details = { availableFrom: new Date(Date.now() - 3_600_000).toISOString() }
  const json = { error: 'Range is older than the log', code: 'conflict', details }
  await page.route('**/v2/replays', (route) => route.fulfill({ status: 409, json }), { times: 1 })
  await page.getByRole('button', { name: 'Count', exact: true }).click()
  await page.getByRole('alert').getByText('Range is older than the log').waitFor()
  await page.getByRole('button', { name: /^From .+ on$/ }).click()
  await page.getByRole('button', { name: 'Count', exact: true }).click()
  await page.getByText('40 events, about 1 s at 100/s').waitFor()
})

test('a replay of the log counts first; then it is started, followed, paused, gone on with and cancelled', async () => {
  await using visit = await dashboard.visit(link({ rate: '1' }))
  const { page } = visit
  await page.getByRole('button', { name: 'Count', exact: true }).click()
  const estimate = page.getByText('40 events, about 40 s at 1/s')
  await estimate.waitFor()
  dashboard.proxy.fate = (_path, method) => (method === 'POST' ? 'hold' : 'pass')
  const start = page.getByRole('button', { name: 'Start' })
  await start.click()
  await expect.poll(() => start.getAttribute('data-loading')).toBe('true')
  expect(await estimate.isVisible()).toBe(true)
  dashboard.proxy.fate = () => 'pass'
  await page.getByRole('heading', { name: 'Replay of the log' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText(/^paused, \d+ of 40 done$/).waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText(/^running, \d+ of 40 done$/).waitFor()
  await page.getByRole('button', { name: 'Cancel replay' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel replay' }).click()
  await page.getByText(/^cancelled, \d+ of 40 delivered$/).waitFor()
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
})

test('a replay of the log that is let run delivers every event, and stands in the list', async () => {
  await using visit = await dashboard.visit(link({ rate: '1000' }))
  const { page } = visit
  await page.getByRole('button', { name: 'Count', exact: true }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('finished, 40 of 40 delivered').waitFor()
  await page.getByText('40 of 40', { exact: true }).waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Replays' }).click()
  await page.getByRole('table', { name: 'Replays' }).getByText('finished, 40 of 40 delivered').first().waitFor()
})

test('J8: a new destination is fed with the events of last week in at most 6 clicks', async () => {
  const { env } = dashboard
  const config = { webhookUrl: `${env.sink.url}/fresh` }
  await env.webhook({ source: first.source, name: 'Fresh CRM', config })
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Destinations' }))
  await visit.click(page.getByRole('row', { name: 'Fresh CRM' }))
  await visit.click(page.getByRole('link', { name: 'Replay events' }))
  // This log is younger than a week: the range begins with it.
  await visit.click(page.getByRole('button', { name: 'Count', exact: true }))
  await page.getByText('40 events, about 1 s at 100/s').waitFor()
  await visit.click(page.getByRole('button', { name: 'Start' }))
  await page.getByText('finished, 40 of 40 delivered').waitFor()
  expect(visit.clicks).toBeLessThanOrEqual(6)
  const fed = env.sink.received.filter(({ path }) => path === '/fresh').map(({ json }) => json.messageId)
  expect(new Set(fed)).toEqual(new Set(Array.from({ length: 40 }, (_, n) => `m-${n}`)))
  expect(fed.length).toBe(40)
})

test('an unknown job, and what a viewer may not do, say so', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit('/replays/nothing', { token, email: 'viewer@cinema.example' })
  const { page } = visit
  await page.getByText('Replay nothing does not exist, or was deleted.').waitFor()
  await page.goto(`/ui${link()}`)
  expect(await page.getByRole('button', { name: 'Count', exact: true }).isDisabled()).toBe(true)
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  const { json } = await dashboard.env.api('GET', '/v2/replays')
  for (const path of ['/replays', link(), `/replays/${json.replays[0].id}`]) {
    await using visit = await dashboard.visit(path, { height: 740 })
    await visit.page
      .getByText(/Replay of the log|Events per second/)
      .first()
      .waitFor()
    expect([path, await visit.flaws()]).toEqual([path, []])
  }
})
