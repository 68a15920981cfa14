import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* What events look like (dashboard.md §10, §15 lines 1, 2, 3, 22, 28, 30). */

let dashboard: Dashboard
let cinema: SourceMade
let eventId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  cinema = await dashboard.env.source({ name: 'Cinema app', type: 'Cordova' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const models = async () => (await dashboard.env.api('GET', '/schemas/event-models?extras=true')).json
const send = (event: object) => dashboard.env.send('/v1/track', { userId: 'u-1', ...event }, cinema.writeKey)

test('before the first event the page says that none was observed', async () => {
  await using visit = await dashboard.visit('/schema')
  await visit.page.getByText('No events yet.').waitFor()
})

test('J9: what an event looks like and what changed between two versions, in 4 clicks', async () => {
  const hall = '<img src=x onerror=alert(1)>'
  await send({ event: 'Seat Reserved', messageId: 'm-1', properties: { hall, price: 18.5 } })
  await send({ event: 'Seat Reserved', messageId: 'm-2', properties: { hall: 7, coupon: 'SPRING' } })
  await send({ event: 'Ticket Paid', messageId: 'm-3', properties: { price: 12 } })
  await expect.poll(async () => (await models()).length).toBe(2)
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Schema' }))
  await visit.click(page.getByRole('row', { name: 'Seat Reserved' }))
  const hallRow = page.getByRole('row').filter({ hasText: 'properties.hall' })
  await hallRow.getByText('string, float64').waitFor()
  await hallRow.getByText('2 types').waitFor()
  await page.getByRole('row').filter({ hasText: 'properties.coupon' }).getByText('1 of 2').waitFor()
  await visit.click(page.getByRole('link', { name: 'Versions' }))
  const differences = page.getByRole('region', { name: 'Differences' })
  await differences.getByText('Version 2 against version 1').waitFor()
  const changes = await differences.getByRole('listitem').allTextContents()
  expect(changes).toEqual([
    'addedproperties.couponstring',
    'type changedproperties.hallstring → float64',
    'removedproperties.pricefloat64',
  ])
  expect(visit.clicks).toBeLessThanOrEqual(4)
  eventId = /schema\/([\w-]+)/.exec(page.url())![1]!
})

test('the chosen versions live in the link', async () => {
  await send({ event: 'Seat Reserved', messageId: 'm-4', properties: { hall: 'B', price: 3, row: 4 } })
  await expect.poll(async () => (await models())[0].VersionCount).toBe(3)
  await using visit = await dashboard.visit(`/schema/${eventId}?tab=versions`)
  const { page } = visit
  const title = page.getByRole('region', { name: 'Differences' }).getByRole('heading')
  await page.getByText('Version 3 against version 2').waitFor()
  await page.getByRole('checkbox', { name: 'Version 1' }).click()
  await page.getByText('Version 3 against version 1').waitFor()
  await page.reload()
  await page.getByText('Version 3 against version 1').waitFor()
  await page.goto(`/ui/schema/${eventId}?tab=versions&version=gone`)
  await expect.poll(() => title.textContent()).toBe('Version 3 against version 2')
})

test('missing keys, frequent values, samples and JSON Schema of the model, payloads as text', async () => {
  await using visit = await dashboard.visit(`/schema/${eventId}?tab=missing`)
  const { page } = visit
  await page.getByRole('list', { name: 'Missing keys' }).getByText('properties.coupon').waitFor()
  await page.getByRole('link', { name: 'Frequent values' }).click()
  await page.getByRole('region', { name: 'properties.hall' }).getByText('<img src=x onerror=alert(1)>').waitFor()
  await page.getByRole('link', { name: 'Samples' }).click()
  await page.getByRole('region', { name: 'sample 3', exact: true }).waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  await page.getByRole('link', { name: 'JSON Schema' }).click()
  await page.getByText('"http://json-schema.org/draft-07/schema#"').waitFor()
})

test('samples that are switched off are told to be', async () => {
  const source = await dashboard.env.source({ name: 'Silent', config: { catalog: { samples: 'off', values: 'on' } } })
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Unseen' }, source.writeKey)
  const unseen = async () =>
    (await models()).find((model: { EventIdentifier: string }) => model.EventIdentifier === 'Unseen')
  await expect.poll(unseen).toBeDefined()
  await using visit = await dashboard.visit(`/schema/${(await unseen()).EventID}?tab=samples`)
  await visit.page.getByText('Samples are off for this source.').waitFor()
  await visit.page.goto(`/ui/sources/${source.id}/schema`)
  await visit.page.getByRole('row', { name: 'Unseen' }).waitFor()
  expect(await visit.page.getByRole('row', { name: 'Seat Reserved' }).count()).toBe(0)
})

test('the list is filtered by the link, and a model that is not there is told by its id', async () => {
  await using visit = await dashboard.visit('/schema?q=ticket')
  const { page } = visit
  const names = () => page.getByRole('row').locator('[role=cell]:first-child').allTextContents()
  await expect.poll(names).toEqual(['Ticket Paid'])
  await page.goto(`/ui/schema?source=${cinema.id}&type=track&sort=-name`)
  await expect.poll(names).toEqual(['Ticket Paid', 'Seat Reserved'])
  await page.goto('/ui/schema?type=page')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Ticket Paid').first().waitFor()
  await page.goto('/ui/schema/87295528-1a53-4a1e-beea-6c8efcc64b7d')
  await page.getByText('Model 87295528-1a53-4a1e-beea-6c8efcc64b7d does not exist, or was deleted.').waitFor()
})

test('503 is told, and passes by itself', async () => {
  await using visit = await dashboard.visit('/schema')
  const { page } = visit
  dashboard.proxy.fate = (path) => (path.startsWith('/schemas/event-models') ? 503 : 'pass')
  await page.reload()
  await page.getByText(/^The server could not answer \(503\)\./).waitFor()
  dashboard.proxy.fate = () => 'pass'
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('Ticket Paid').first().waitFor()
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/schema')
  const found: Record<string, unknown> = {}
  const tabs = ['keys', 'versions', 'missing', 'values', 'samples', 'json'].map((tab) => `/${eventId}?tab=${tab}`)
  for (const path of ['', ...tabs]) {
    await visit.page.goto(`/ui/schema${path}`)
    await visit.settled()
    const flaws = await visit.flaws()
    if (flaws.length > 0) found[path] = flaws
  }
  expect(found).toEqual({})
})
