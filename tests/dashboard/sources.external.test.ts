import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Sources, from the first one to its end (dashboard.md §2, §15 lines 1, 2, 8 to 10, 24, 26, 30). */

let dashboard: Dashboard
let cinema: SourceMade
let hookId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  cinema = await env.source({ name: 'Cinema app', type: 'Cordova' })
  ;({ destinationId: hookId } = await env.webhook({ source: cinema, name: 'Booking hook' }))
  await env.source({ name: 'Website', type: 'Javascript' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('J4: write key and snippet copied and the first event seen, in 5 clicks without a reload', async () => {
  await using visit = await dashboard.visit('/')
  const { page } = visit
  let loads = 0
  page.on('load', () => loads++)
  await visit.click(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Sources' }))
  await visit.click(page.getByRole('link', { name: 'New source' }))
  await page.getByLabel('Name').fill('Box office')
  await visit.press('Enter')
  await page.getByText('Waiting for the first event …').waitFor()
  await visit.click(page.getByRole('button', { name: 'Copy write key' }))
  const writeKey = await page.evaluate('navigator.clipboard.readText()')
  await visit.click(page.getByRole('button', { name: 'Copy snippet' }))
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(writeKey)
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Ticket Paid' }, String(writeKey))
  await page.getByText('First event arrived: track Ticket Paid.').waitFor()
  expect({ clicks: visit.clicks, loads }).toEqual({ clicks: 5, loads: 0 })
})

test('setup shows the write key, the id and a request that was refused for its key', async () => {
  const { id, writeKey } = await dashboard.env.source({ name: 'Kiosk' })
  await using visit = await dashboard.visit(`/sources/${id}/setup`)
  const { page } = visit
  await page.getByText(writeKey, { exact: true }).waitFor()
  await page.getByText(id, { exact: true }).waitFor()
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Lost' }, 'wrongKey0123456789abcdefgh')
  await page.getByText('key wron…').waitFor()
  await visit.click(page.getByRole('button', { name: 'Send a sample event' }))
  await page.getByText('First event arrived: track Seat Reserved.').waitFor()
})

test('a source of webhooks shows its address, and its settings make the events', async () => {
  const { env } = dashboard
  await env.api('PUT', '/v2/credentials/github_hooks', { value: 'a secret of GitHub' })
  const { id, writeKey } = await env.source({ name: 'Billing', type: 'Webhook' })
  await using visit = await dashboard.visit(`/sources/${id}/setup`)
  const { page } = visit
  await page.getByText(`/hooks/${writeKey}`).waitFor()
  expect(await page.getByRole('button', { name: 'Send a sample event' }).count()).toBe(0)
  await env.request(`/hooks/${writeKey}`, { method: 'POST', body: '{"type":"invoice.paid"}' })
  await page.getByText('First event arrived: track Webhook Received.').waitFor()

  await visit.click(page.getByRole('link', { name: 'Settings' }).last())
  await page.getByLabel('Path of the event name').fill('type')
  await page.getByRole('combobox', { name: 'Signature', exact: true }).click()
  await page.getByRole('option', { name: 'GitHub' }).click()
  await page.getByRole('combobox', { name: 'Secret of the signature' }).click()
  await page.getByRole('option', { name: 'github_hooks' }).click()
  await visit.click(page.getByRole('button', { name: 'Save' }))
  await page.getByText('Saved.').waitFor()
  expect(await visit.flaws()).toEqual([])
  const { source } = (await env.api('GET', `/v2/sources/${id}`)).json
  const wanted = { eventPath: 'type', signature: 'github', secretCredential: 'github_hooks' }
  expect(source.config.webhook).toMatchObject(wanted)
})

test('the filter lives in the link: a reload and Back give the same view, a bad value is told and breaks nothing', async () => {
  await using visit = await dashboard.visit('/sources')
  const { page } = visit
  const names = () => page.getByRole('row').locator('[role=cell]:first-child').allTextContents()
  await page.getByRole('link', { name: 'Cinema app' }).or(page.getByText('Cinema app')).first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('webs')
  await expect.poll(names).toEqual(['Website'])
  expect(new URL(page.url()).search).toBe('?q=webs')
  await page.reload()
  await expect.poll(names).toEqual(['Website'])
  await page.getByText('Website').click()
  await page.getByRole('heading', { name: 'Website' }).waitFor()
  await page.goBack()
  await expect.poll(names).toEqual(['Website'])
  await page.getByLabel('Name, key or id').fill('nothing like it')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Cinema app').first().waitFor()
  await page.goto('/ui/sources?colour=red&sort=size')
  await page.getByText('The link has an invalid filter (colour). It is ignored.').waitFor()
  await page.getByText('The link has an invalid filter (sort). It is ignored.').waitFor()
  await page.getByText('Cinema app').first().waitFor()
})

test('in a narrow window the count and the time of a source have their titles', async () => {
  const { id } = await dashboard.env.source({ name: 'Narrow kiosk' })
  await using visit = await dashboard.visit(`/sources?q=${id}`, { width: 390 })
  const row = visit.page.getByRole('row', { name: 'Narrow kiosk' })
  await row.getByText('Events/min 0').waitFor()
  await row.getByText('Last event –').waitFor()
})

test('a destination is connected, switched off and removed', async () => {
  const { id } = await dashboard.env.source({ name: 'Foyer' })
  await using visit = await dashboard.visit(`/sources/${id}/connections`)
  const { page } = visit
  await page.getByText('No destination receives these events. Connect one.').waitFor()
  await page.getByRole('combobox', { name: 'Destination' }).click()
  await page.getByRole('option', { name: 'Booking hook' }).click()
  await page.getByRole('button', { name: 'Connect' }).click()
  const toggle = page.getByRole('switch', { name: 'Connected to Booking hook' })
  await toggle.waitFor()
  const made = async () => {
    const { json } = await dashboard.env.api('GET', '/v2/connections?limit=500')
    return json.connections.filter(({ sourceId }: { sourceId: string }) => sourceId === id)
  }
  expect(await made()).toMatchObject([{ destinationId: hookId, enabled: true }])
  await toggle.click({ force: true })
  await expect.poll(made).toMatchObject([{ enabled: false }])
  await page.getByRole('button', { name: 'Remove the connection to Booking hook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No destination receives these events. Connect one.').waitFor()
  expect(await made()).toEqual([])
})

test('of two who change a source the second is told, sees the difference, and keeps theirs', async () => {
  const { id } = await dashboard.env.source({ name: 'Twice' })
  await using visit = await dashboard.visit(`/sources/${id}/settings`)
  const { page } = visit
  await page.getByLabel('Name').fill('Twice, mine')
  await dashboard.env.api('PATCH', `/v2/sources/${id}`, { name: 'Twice, theirs' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone changed this source since you opened it.').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('Twice, mine')
  await page.getByRole('button', { name: 'See the difference' }).click()
  await page.getByText('"name": "Twice, theirs"').waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Saved.').waitFor()
  expect((await dashboard.env.api('GET', `/v2/sources/${id}`)).json.source.name).toBe('Twice, mine')
})

test('a refused field keeps what was written, with the text of the server beside it', async () => {
  await using visit = await dashboard.visit(`/sources/${cinema.id}/settings`)
  const { page } = visit
  await page.getByLabel('Name').fill('   ')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('name is required').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('   ')
})

test('a number field that is emptied keeps its number, and takes what is typed instead', async () => {
  const { id } = await dashboard.env.source({ name: 'Numbers', config: { rateLimitEventsPerMinute: 100 } })
  await using visit = await dashboard.visit(`/sources/${id}/settings`)
  const { page } = visit
  const limit = page.getByLabel('Rate limit')
  const stored = async () => (await dashboard.env.api('GET', `/v2/sources/${id}`)).json.source.config
  await limit.fill('')
  await page.getByLabel('Duplicates').fill('60')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await stored()).toMatchObject({ rateLimitEventsPerMinute: 100, dedupWindowSeconds: 60 })
  await limit.press('End')
  for (let n = 0; n < 3; n++) await page.keyboard.press('Backspace')
  expect(await limit.inputValue()).toBe('')
  await page.keyboard.type('25')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(stored).toMatchObject({ rateLimitEventsPerMinute: 25 })
})

test('the form of order shards says what order is left, and saves them', async () => {
  const { id } = await dashboard.env.source({ name: 'Busy' })
  await using visit = await dashboard.visit(`/sources/${id}/settings`)
  const { page } = visit
  await page.getByText('Above 1, order holds per anonymousId, else userId.').waitFor()
  await page.getByLabel('Order shards').fill('4')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect((await dashboard.env.api('GET', `/v2/sources/${id}`)).json.source.config.orderShards).toBe(4)
})

test('a source with connections goes only when that is agreed to', async () => {
  const source = await dashboard.env.source({ name: 'Ends' })
  await dashboard.env.webhook({ source })
  await using visit = await dashboard.visit(`/sources/${source.id}/settings`)
  const { page } = visit
  await page.getByRole('button', { name: 'Delete source' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Remove its 1 connection').waitFor()
  expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Remove its 1 connection').check()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
  expect((await dashboard.env.api('GET', `/v2/sources/${source.id}`)).status).toBe(404)
})

test('what is not there is told by its id', async () => {
  await using visit = await dashboard.visit('/sources/3iidO0kXIpgrmam9JhPLS2gpoVe/setup')
  await visit.page.getByText('Source 3iidO0kXIpgrmam9JhPLS2gpoVe does not exist, or was deleted.').waitFor()
})

test('a viewer sees everything and can do nothing of it, and is told why', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit('/sources', { token, email: 'viewer@cinema.example' })
  const { page } = visit
  const create = page.getByRole('button', { name: 'New source' })
  expect(await create.isDisabled()).toBe(true)
  await page.getByText('New source').hover({ force: true })
  await page.getByRole('tooltip', { name: 'Needs the role editor.' }).waitFor()
  await page.goto(`/ui/sources/${cinema.id}/settings`)
  for (const name of ['Save', 'Delete source', 'Purge schema']) {
    expect(await page.getByRole('button', { name }).isDisabled(), name).toBe(true)
  }
  expect(await page.getByRole('switch', { name: 'Takes events' }).isDisabled()).toBe(true)
})

test('no connection, 503 and 429 are told, and pass by themselves', async () => {
  await using visit = await dashboard.visit('/sources')
  const { page } = visit
  await page.getByText('Cinema app').first().waitFor()
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/sources') ? 503 : 'pass')
  await page.reload()
  await page.getByText('The server could not answer (503). Request req-1.').waitFor()
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/sources') ? 'cut' : 'pass')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByText(/^No connection to the server\. Retrying in \d s\.$/).waitFor()
  dashboard.proxy.fate = () => 'pass'
  await page.getByText('Cinema app').first().waitFor()
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/sources') ? 429 : 'pass')
  await page.reload()
  await page.getByText(/^Too many requests\. Retrying in [1-7] s\.$/).waitFor()
  dashboard.proxy.fate = () => 'pass'
})

const PAGES = ['', '/new', '/{id}/setup', '/{id}/connections', '/{id}/refused', '/{id}/settings']

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/sources')
  const found: Record<string, unknown> = {}
  for (const path of PAGES) {
    await visit.page.goto(`/ui/sources${path.replace('{id}', cinema.id)}`)
    await visit.settled()
    const flaws = await visit.flaws()
    if (flaws.length > 0) found[path] = flaws
  }
  expect(found).toEqual({})
})
