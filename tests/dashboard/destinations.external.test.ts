import type { SourceMade } from '@millrace/dev-env'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, IS_FULL } from './browser.ts'

/* Destinations, from the first one to its end (dashboard.md §9, §15 lines 1, 2, 3, 8, 24, 25, 26, 30). */

let dashboard: Dashboard
let cinema: SourceMade
let hookId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const api = (method: string, path: string, body?: unknown) => dashboard.env.api(method, path, body)
const read = async (id: string) => (await api('GET', `/v2/destinations/${id}`)).json.destination

async function made(config: object = {}): Promise<string> {
  const { json } = await api('POST', '/v2/destinations', {
    name: 'Made',
    type: 'WEBHOOK',
    enabled: false,
    config: { webhookUrl: `${dashboard.env.sink.url}/made`, ...config },
  })
  return json.destination.id
}

test('without a destination the page says what one is, and leads to a new one', async () => {
  await using visit = await dashboard.visit('/destinations')
  const { page } = visit
  await page.getByText('No destinations yet. Create one to deliver events.').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'New destination' }).last().click()
  await page.getByRole('link', { name: /^Webhook identify/ }).waitFor()
})

test('J5, as far as enabling: a new destination is made off, its connection tested, and it gets events once enabled', async () => {
  cinema = await dashboard.env.source({ name: 'Cinema app', type: 'Cordova' })
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Destinations' }))
  await visit.click(page.getByRole('link', { name: 'New destination' }).first())
  await visit.click(page.getByRole('link', { name: /^Webhook identify/ }))
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Booking hook')
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill(`${dashboard.env.sink.url}/booking`)
  await visit.click(page.getByRole('button', { name: 'Test connection' }))
  await page.getByText(/^Answered 200\. \d+ ms$/).waitFor()
  await visit.click(page.getByRole('button', { name: 'Create destination' }))
  await page.getByRole('heading', { name: 'Booking hook' }).waitFor()
  await visit.click(page.getByRole('button', { name: 'Enable', exact: true }))
  await page.getByRole('button', { name: 'Disable' }).waitFor()
  expect(visit.clicks).toBe(6)
  hookId = /destinations\/(\w+)\/overview/.exec(page.url())![1]!
  const { messageId } = { messageId: 'm-first' }
  await dashboard.env.send('/v1/track', { userId: 'u-1', event: 'Ticket Paid', messageId }, cinema.writeKey)
  await dashboard.env.journey(messageId, 'delivered', hookId)
  await page.getByRole('link', { name: 'Connections' }).click()
  await page.getByRole('link', { name: 'Cinema app' }).waitFor()
})

test('J5: a new destination is tried with a real event, and then enabled, in 8 clicks', async () => {
  const { env } = dashboard
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Destinations' }))
  await visit.click(page.getByRole('link', { name: 'New destination' }).first())
  await visit.click(page.getByRole('link', { name: /^Webhook identify/ }))
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ticket hook')
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill(`${env.sink.url}/tickets`)
  await visit.click(page.getByRole('button', { name: 'Create destination' }))
  await visit.click(page.getByRole('link', { name: 'Test with an event' }))
  // The newest of its source: nothing has come to the destination itself.
  await page.getByRole('region', { name: 'Message', exact: true }).getByText('"m-first"').waitFor()
  await visit.click(page.getByRole('switch', { name: 'Send' }))
  await visit.click(page.getByRole('button', { name: `Send to 127.0.0.1:${env.sink.port}` }))
  await page.getByText('answered 200').waitFor()
  expect(env.sink.received.filter(({ path }) => path === '/tickets').map(({ json }) => json.messageId)).toEqual([
    'm-first',
  ])
  const enable = page.getByRole('button', { name: 'Enable', exact: true })
  await visit.click(enable)
  await enable.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(8)
  const { json } = await api('GET', '/v2/destinations')
  expect(json.destinations.find(({ name }: { name: string }) => name === 'Ticket hook').enabled).toBe(true)
})

const hasFocus = (field: Locator) => field.evaluate((element) => element.matches(':focus'))

/** The whole label, whether the field is required or not. */
const labelled = (text: string) => new RegExp(`^${text}( \\*)?$`)

const FORMS: readonly (readonly [type: string, name: string, values: Readonly<Record<string, string>>])[] = [
  ['HTTP', 'HTTP API', { URL: 'https://api.cinema.example/in' }],
  ['GA4', 'Google Analytics 4', { 'Measurement ID': 'G-12345678', 'API secret': 'ga4-secret-000001' }],
  ['AMPLITUDE', 'Amplitude', { 'API key': 'amplitude-key-0001' }],
  ['MIXPANEL', 'Mixpanel', { 'Project token': 'mixpanel-token-01' }],
  ['BRAZE', 'Braze', { 'REST endpoint': 'https://rest.iad-01.braze.com', 'REST API key': 'braze-key-0000001' }],
  [
    'FACEBOOK_CAPI',
    'Facebook Conversions API',
    { 'Dataset or pixel ID': '1234567890', 'Access token': 'fb-token-00000001' },
  ],
  ['SLACK', 'Slack', { 'Webhook URL': 'https://hooks.chat.example/services/a/b' }],
]

test.each(FORMS.slice(0, IS_FULL ? undefined : 2))(
  'the form of %s saves what it is given, and nothing secret is seen again',
  async (type, name, values) => {
    await using visit = await dashboard.visit(`/destinations/new?type=${type}`)
    const { page } = visit
    for (const [label, value] of Object.entries(values)) {
      await page.getByLabel(labelled(label)).fill(value)
    }
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByText('This type has no connection test. Try it with an event in the test bench.').waitFor()
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByRole('heading', { name }).waitFor()
    await page.getByRole('link', { name: 'Configuration' }).click()
    for (const label of Object.keys(values)) await page.getByLabel(labelled(label)).waitFor()
    const id = /destinations\/(\w+)\//.exec(page.url())![1]!
    const saved = JSON.stringify((await read(id)).config)
    const shown = await page.locator('main').innerHTML()
    for (const value of Object.values(values)) {
      if (!saved.includes(value)) expect(shown).not.toContain(value)
    }
  },
)

test('what the browser can tell to be wrong is told at its field, and the server is not asked', async () => {
  await using visit = await dashboard.visit('/destinations/new?type=HTTP')
  const { page } = visit
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill('nowhere')
  await page.getByRole('button', { name: 'Create destination' }).click()
  await page.getByText('must be an http or https address without placeholders in its host').waitFor()
})

test('the refusal of a name goes once the name is changed', async () => {
  await using visit = await dashboard.visit('/destinations/new?type=WEBHOOK')
  const { page } = visit
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill('https://hooks.cinema.example/in')
  const name = page.getByLabel(labelled('Name'))
  await name.fill('')
  await page.getByRole('button', { name: 'Create destination' }).click()
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await name.fill('Named hook')
  await expect.poll(() => name.getAttribute('aria-invalid')).not.toBe('true')
})

test('text that is not JSON is neither saved nor lost', async () => {
  const { json } = await api('POST', '/v2/destinations', {
    name: 'With a body',
    type: 'HTTP',
    enabled: false,
    config: { url: 'https://api.cinema.example/in' },
  })
  const { id } = json.destination
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const saves: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') saves.push(request.postDataJSON().config.body)
  })
  const body = page.getByLabel(labelled('Body'))
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await body.fill('{"a": 1}')
  await body.fill('{"a": 1')
  await save.click()
  expect(await body.inputValue()).toBe('{"a": 1')
  await body.fill('{"a": 12}')
  await save.click()
  await page.getByText('Saved.').waitFor()
  expect(saves).toEqual([{ a: 12 }])
  expect((await read(id)).config.body).toEqual({ a: 12 })
})

test('a connection is not tested while a field shows text that is not JSON', async () => {
  await using visit = await dashboard.visit('/destinations/new?type=HTTP')
  const { page } = visit
  const tested: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/test-connection')) tested.push(request.postDataJSON().config.body)
  })
  await page.getByRole('textbox', { name: labelled('URL') }).fill('https://api.cinema.example/in')
  const body = page.getByLabel(labelled('Body'))
  await body.fill('{"a": 1}')
  await body.fill('{"a": 1')
  const testConnection = page.getByRole('button', { name: 'Test connection' })
  await testConnection.click()
  await expect.poll(() => hasFocus(body)).toBe(true)
  await body.fill('{"a": 12}')
  await testConnection.click()
  await page.getByText('This type has no connection test.').waitFor()
  expect(tested).toEqual([{ a: 12 }])
})

test('a save keeps the focus in its field, and a secret header is masked in its row', async () => {
  const id = await made({ headers: [{ from: 'X-Key', to: 'key-0001', secret: true }] })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const url = page.getByRole('textbox', { name: labelled('URL') })
  await url.fill(`${dashboard.env.sink.url}/again`)
  await url.press('Enter')
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect(await hasFocus(url)).toBe(true)
  const value = page.getByRole('textbox', { name: 'Value 1' })
  await value.fill('key-0002')
  await value.press('Enter')
  await expect.poll(() => value.inputValue()).toBe('')
  expect(await value.getAttribute('placeholder')).toBe('Saved. Type to replace.')
  expect(await hasFocus(value)).toBe(true)
})

test('a save keeps the focus in the form of a catalog type', async () => {
  const config = {
    accountSID: 'AC0123',
    apiKeySID: 'SK0123',
    apiKeySecret: 'secret-of-twilio',
    subscriptions: [{ action: 'sendMessage', trigger: 'type = "identify"', base: 'default' }],
  }
  const body = { name: 'Focus', type: 'CATALOG_TWILIO_MESSAGING', config }
  const { id } = (await api('POST', '/v2/destinations', body)).json.destination
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const account = page.getByRole('textbox', { name: labelled('Twilio Account SID') })
  await account.fill('AC0456')
  await account.press('Enter')
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await read(id)).config.accountSID).toBe('AC0456')
  expect(await hasFocus(account)).toBe(true)
})

test('your own Enable is no change by someone else, and what is typed during a save is kept', async () => {
  const id = await made()
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await name.fill('First')
  await page.getByRole('button', { name: 'Enable', exact: true }).click()
  await page.getByRole('button', { name: 'Disable' }).waitFor()
  const held = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route(`**/v2/destinations/${id}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    const response = await route.fetch()
    answered.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  await save.click()
  await answered.promise
  expect((await read(id)).name).toBe('First')
  await name.fill('Second')
  held.resolve()
  await save.click()
  await page.getByText('Saved.').waitFor()
  expect((await read(id)).name).toBe('Second')
})

test('a problem above the window is scrolled into it: the first field with an error, or the refusal', async () => {
  await using visit = await dashboard.visit('/destinations/new?type=GA4', { height: 500 })
  const { page } = visit
  const create = page.getByRole('button', { name: 'Create destination' })
  const secret = page.getByLabel(labelled('API secret'))
  await create.click()
  await expect.poll(() => secret.and(page.locator(':focus')).count()).toBe(1)
  const isShown = (top: number | undefined) => top !== undefined && top > 50 && top < 450
  expect(isShown((await secret.boundingBox())?.y)).toBe(true)
  await secret.fill('secret')
  await create.click()
  const refusal = page.getByText(/must have exactly one of measurementId, firebaseAppId/)
  await refusal.waitFor()
  await expect.poll(async () => isShown((await refusal.boundingBox())?.y)).toBe(true)
})

test('what the server refuses of a variable is told at its field, and the input stays', async () => {
  await using visit = await dashboard.visit('/destinations/new?type=HTTP')
  const { page } = visit
  await page.getByRole('textbox', { name: /^URL( \*)?$/ }).fill('https://api.cinema.example/in')
  await page.getByLabel('Body', { exact: true }).fill('"just a text"')
  await page.getByRole('button', { name: 'Create destination' }).click()
  await page.locator('[aria-invalid=true], [role=alert]').first().waitFor()
  expect(await page.getByRole('textbox', { name: /^URL( \*)?$/ }).inputValue()).toBe('https://api.cinema.example/in')
  await page.getByRole('heading', { name: 'New destination' }).waitFor()
})

test('an untouched secret stays, and a changed origin warns that it will not', async () => {
  const id = await made({ signingSecret: 'signing-secret-000001' })
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  const url = page.getByRole('textbox', { name: /^URL( \*)?$/ })
  await page.getByPlaceholder('Saved. Type to replace.').waitFor()
  await url.fill(`${dashboard.env.sink.url}/other`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await read(id)).config).toMatchObject({
    signingSecret: '********',
    webhookUrl: `${dashboard.env.sink.url}/other`,
  })
  const warning = 'The secrets could reach another host. Enter them again, or they will be removed.'
  expect(await page.getByText(warning).count()).toBe(0)
  await url.fill('https://hooks.cinema.example/in')
  await page.getByText(warning).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Saved\. \w/).waitFor()
  expect((await read(id)).config.signingSecret).toBeUndefined()
})

test('how events are sent is saved with the rest', async () => {
  const id = await made()
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  await page.getByLabel('Maximum in flight').fill('7')
  await page.getByRole('switch', { name: 'Rate limit' }).click({ force: true })
  await page.getByLabel('Events', { exact: true }).fill('45')
  await page.getByLabel('In seconds').fill('20')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await read(id)).delivery).toMatchObject({ concurrency: 7, throttle: { limit: 45, windowSeconds: 20 } })
})

test('of two who change a destination the second is told, and keeps theirs', async () => {
  const id = await made()
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine')
  await api('PATCH', `/v2/destinations/${id}`, { name: 'Theirs' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone changed this destination since you opened it.').waitFor()
  await page.getByRole('button', { name: 'See the difference' }).click()
  await page.getByText('"name": "Theirs"').waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await read(id)).name).toBe('Mine')
})

test('the chain is made, put in order and saved', async () => {
  const ids: string[] = []
  for (const name of ['Add cents', 'Drop tests']) {
    const code = 'export function transformEvent(event) { return event }'
    const { json } = await api('POST', '/v2/transformations?publish=true', { name, code })
    ids.push(json.transformation.id)
  }
  const id = await made()
  await using visit = await dashboard.visit(`/destinations/${id}/transformations`)
  const { page } = visit
  await page.getByText('No transformations. Events are sent unchanged.').waitFor()
  for (const name of ['Add cents', 'Drop tests']) {
    await page.getByRole('combobox', { name: 'Add a transformation' }).click()
    await page.getByRole('option', { name }).click()
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
  }
  await page.getByRole('button', { name: 'Move Drop tests up' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await read(id)).transformationIds).toEqual(ids.toReversed())
})

test('the overview shows what became of events and why', async () => {
  const integrations = { All: false }
  await dashboard.env.send(
    '/v1/track',
    { userId: 'u-2', event: 'Left out', messageId: 'm-out', integrations },
    cinema.writeKey,
  )
  await dashboard.env.journey('m-out', 'filtered', hookId)
  await using visit = await dashboard.visit(`/destinations/${hookId}/overview`)
  const { page } = visit
  await page.getByText('1 integrations').waitFor()
  await page.getByRole('img', { name: 'Outcomes' }).waitFor()
  await page.getByText('24 h', { exact: true }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?range=24h')
  const quiet = await made()
  await page.goto(`/ui/destinations/${quiet}/overview`)
  await page.getByText('Nothing was sent in this time range.').waitFor()
})

test('a first delivery is part of the overview at once, in every range', async () => {
  const { source, destinationId } = await dashboard.env.webhook({ name: 'Just made' })
  await dashboard.env.send('/v1/track', { userId: 'u-4', event: 'First', messageId: 'm-just' }, source.writeKey)
  await dashboard.env.journey('m-just', 'delivered', destinationId)
  for (const range of ['1h', '6h']) {
    await using visit = await dashboard.visit(`/destinations/${destinationId}/overview?range=${range}`)
    const shown = visit.page.getByText(/^(Received|Nothing was sent in this time range\.)$/)
    expect([range, await shown.textContent()]).toEqual([range, 'Received'])
  }
})

test('the events of a destination, with what each came to there', async () => {
  await using visit = await dashboard.visit(`/destinations/${hookId}/events`)
  const { page } = visit
  await page.getByRole('row').filter({ hasText: 'Ticket Paid' }).waitFor()
  await page.getByRole('row').filter({ hasText: 'Left out' }).waitFor()
})

test('disabling says what becomes of waiting events', async () => {
  await using visit = await dashboard.visit(`/destinations/${hookId}/overview`)
  const { page } = visit
  await page.getByRole('button', { name: 'Disable' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('New events are not sent to it while it is disabled.').waitFor()
  expect(await dialog.getByText('are kept and sent when you enable it').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
  expect((await read(hookId)).enabled).toBe(false)
})

test('the list is filtered and sorted by the link', async () => {
  await using visit = await dashboard.visit('/destinations?q=booking')
  const { page } = visit
  const names = () => page.getByRole('row').locator('[role=cell]:first-child').allTextContents()
  await expect.poll(names).toEqual(['Booking hook'])
  await page.goto('/ui/destinations?state=off&type=GA4&sort=-name')
  await expect.poll(names).toEqual(['Google Analytics 4'])
  await page.reload()
  await expect.poll(names).toEqual(['Google Analytics 4'])
  await page.goto('/ui/destinations?state=resting')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Booking hook').first().waitFor()
  await page.goto('/ui/destinations?state=happy')
  await page.getByText('The link has an invalid filter (state). It is ignored.').waitFor()
})

test('a destination with connections and dead letters goes only when both are agreed to', async () => {
  dashboard.env.sink.answer = ({ path }) => ({ status: path === '/refusing' ? 400 : 200 })
  const config = { webhookUrl: `${dashboard.env.sink.url}/refusing` }
  const { destinationId: id } = await dashboard.env.webhook({ source: cinema, name: 'Ends', config })
  await dashboard.env.send('/v1/track', { userId: 'u-3', event: 'Refused', messageId: 'm-refused' }, cinema.writeKey)
  await dashboard.env.journey('m-refused', 'dead_lettered', id)
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  await page.getByRole('button', { name: 'Delete destination' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Remove its 1 connection').check()
  expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Discard 1 event that waits or ended as dead letters').check()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Destinations' }).waitFor()
  expect((await api('GET', `/v2/destinations/${id}`)).status).toBe(404)
})

test('a viewer sees everything and can do nothing of it, and what is not there is told by its id', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit(`/destinations/${hookId}/config`, { token, email: 'viewer@cinema.example' })
  const { page } = visit
  for (const name of ['Save', 'Test connection', 'Delete destination', 'Enable']) {
    const button = page.getByRole('button', { name, exact: true })
    await button.waitFor()
    expect(await button.isDisabled(), name).toBe(true)
  }
  expect(await page.getByRole('textbox', { name: /^URL( \*)?$/ }).isDisabled()).toBe(true)
  await page.goto('/ui/destinations/3iidO0kXIpgrmam9JhPLS2gpoVe/config')
  await page.getByText('Destination 3iidO0kXIpgrmam9JhPLS2gpoVe does not exist, or was deleted.').waitFor()
})

test('no connection and 503 are told, and pass by themselves', async () => {
  await using visit = await dashboard.visit('/destinations')
  const { page } = visit
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/destinations') ? 503 : 'pass')
  await page.reload()
  await page.getByText(/^The server could not answer \(503\)\./).waitFor()
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/destinations') ? 'cut' : 'pass')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByText(/^No connection to the server\. Retrying in \d s\.$/).waitFor()
  dashboard.proxy.fate = () => 'pass'
  await page.getByText('Booking hook').first().waitFor()
})

const PAGES = [
  '',
  '/new',
  '/new?type=HTTP',
  '/{id}/overview',
  '/{id}/config',
  '/{id}/transformations',
  '/{id}/connections',
  '/{id}/events',
]

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/destinations')
  const found: Record<string, unknown> = {}
  for (const path of PAGES) {
    await visit.page.goto(`/ui/destinations${path.replace('{id}', hookId)}`)
    await visit.settled()
    const flaws = await visit.flaws()
    if (flaws.length > 0) found[path] = flaws
  }
  expect(found).toEqual({})
})

test('types are listed by category; one of the catalog is found by its name, and gets a prepared mapping that is saved', async () => {
  await using visit = await dashboard.visit('/destinations/new')
  const { page } = visit
  const inCategory = (category: string, name: RegExp) =>
    page.getByRole('region', { name: category }).getByRole('link', { name })
  await inCategory('Messaging', /^Slack/).waitFor()
  await inCategory('Community catalog', /^Airship/).waitFor()
  await page.getByRole('searchbox', { name: 'Name of the service' }).fill('loops')
  expect(await inCategory('Messaging', /./).count()).toBe(0)
  await page.getByRole('link', { name: /^Loops/ }).click()
  await page.getByText('Without mappings these apply: Create or update a contact, Send Event').waitFor()
  await page.getByRole('button', { name: 'Add mapping Create or update a contact' }).click()
  await page.getByText('1 of at most 50 mappings').waitFor()
  await page.getByLabel('API Key').fill('key-of-loops-0123456789')
  await page.getByRole('button', { name: 'Create destination' }).click()
  await page.getByRole('heading', { name: 'Loops' }).waitFor()
  const id = /destinations\/(\w+)\//.exec(page.url())![1]!
  expect((await read(id)).config).toEqual({
    apiKey: '********',
    subscriptions: [{ action: 'createOrUpdateContact', base: 'default' }],
  })
  await page.getByText('not yet verified here').waitFor()
  expect(await visit.flaws()).toEqual([])
})

test('choices that a service lists are loaded and saved in their mapping', async () => {
  const config = {
    accountSID: 'AC0123',
    apiKeySID: 'SK0123',
    apiKeySecret: 'secret-of-twilio',
    subscriptions: [{ action: 'sendMessage', name: 'Welcome', trigger: 'type = "identify"', base: 'default' }],
  }
  const body = { name: 'Messages', type: 'CATALOG_TWILIO_MESSAGING', config }
  const { id } = (await dashboard.env.api('POST', '/v2/destinations', body)).json.destination
  await using visit = await dashboard.visit(`/destinations/${id}/config`)
  const { page } = visit
  await page.getByText('No service has accepted an event of this type from here.').waitFor()
  await page.getByRole('button', { name: /^Load choices for .*Channel.* of Welcome/ }).click()
  await page.getByText(/^\d+ choices loaded\. Open the list to choose\.$/).waitFor()
  const field = page.getByRole('combobox', { name: /Channel.* of Welcome/ })
  await field.click()
  await page.getByRole('option', { name: 'SMS' }).click()
  expect(await visit.flaws()).toEqual([])
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  expect((await read(id)).config).toMatchObject({
    apiKeySecret: '********',
    subscriptions: [{ name: 'Welcome', mapping: { channel: 'SMS' } }],
  })
})
