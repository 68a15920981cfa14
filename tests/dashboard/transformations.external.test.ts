import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* Code: written, tried, tested, published (dashboard.md §8, §15 lines 19, 22 to 24, J6). */

let dashboard: Dashboard
let destinationId: string
let source: { id: string; writeKey: string }
let libraryId: string
let id: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  libraryId = (await env.api('POST', '/v2/libraries?publish=true', { name: 'Price Rules', code: LIBRARY })).json.library
    .id
  id = await newTransformation('Add cents', CODE)
  source = await env.source({ name: 'Cinema app' })
  destinationId = (await env.webhook({ source, name: 'Booking hook' })).destinationId
  await env.api('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [id] })
  await env.send('/v1/track', { ...EVENT, messageId: 'm-good' }, source.writeKey)
  await env.send('/v1/track', { ...EVENT, messageId: 'm-bad', properties: { price: -1 } }, source.writeKey)
  await env.journey('m-good', 'delivered')
  await env.journey('m-bad', 'dead_lettered')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const EVENT = { type: 'track', userId: 'u-1', event: 'Seat Reserved', properties: { price: 18.5 } }
const LIBRARY =
  'export const toCents = (price) => {\n  if (price < 0) throw new RangeError("price below zero")\n  return price * 100\n}\n'
const CODE = `import { toCents } from "priceRules"
export function transformEvent(event) {
  log('price', event.properties.price)
  return { ...event, cents: toCents(event.properties.price) }
}
`

async function newTransformation(name: string, code: string): Promise<string> {
  const { json, text } = await dashboard.env.api('POST', '/v2/transformations?publish=true', { name, code })
  if (json.transformation === undefined) throw new Error(text)
  return json.transformation.id
}

const codeOf = (page: Page) => page.getByRole('textbox', { name: 'Code', exact: true })

/** Pasted, as people do. */
async function write(page: Page, label: string, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await page.getByRole('textbox', { name: label, exact: true }).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Control+V')
}

test('the list tells language, users and drafts; a filter that fits nothing says so', async () => {
  await using visit = await dashboard.visit('/transformations')
  const { page } = visit
  const row = page.getByRole('row', { name: 'Add cents' })
  await row.waitFor()
  expect(await row.textContent()).toContain('JavaScript')
  expect(await row.textContent()).toContain('published')
  await page.getByRole('searchbox').fill('nothing like it')
  await page.getByText('Nothing matches these filters.').waitFor()
  expect(page.url()).toContain('q=nothing+like+it')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await row.click()
  await page.waitForURL(`**/transformations/${id}/code`)
})

test('a run shows what changed and what was logged', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/code?event=m-good`)
  const { page } = visit
  await page.getByText('"m-good"').first().waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('"cents": 1850').waitFor()
  await page.getByText('Log: price 18.5').waitFor()
})

test('a failed event leads to its line of code, and of a library; both are marked', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/code?event=m-bad&line=4&column=29`)
  const { page } = visit
  await page.getByText('"price": -1').waitFor()
  await page.locator('.cm-activeLine').filter({ hasText: 'cents: toCents' }).waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('RangeError: price below zero').first().waitFor()
  await page.locator('.cm-lint-marker-error').waitFor()
  await page.getByRole('link', { name: 'library priceRules:2:' }).click()
  await page.waitForURL(`**/libraries/${libraryId}/code?line=2&column=*`)
  await page.locator('.cm-activeLine').filter({ hasText: 'price below zero' }).waitFor()
})

test('code fixed and published: diff, tests and destinations are shown; it governs the next event', async () => {
  const own = await newTransformation(
    'Rounded',
    'export function transformEvent(event) {\n  return { ...event, a: 1 }\n}\n',
  )
  const hook = await dashboard.env.webhook({ source: await dashboard.env.source(), name: 'Rounded hook' })
  await dashboard.env.api('PATCH', `/v2/destinations/${hook.destinationId}`, { transformationIds: [own] })
  await dashboard.env.api('PUT', `/v2/transformations/${own}/tests`, {
    tests: [{ id: 't1', name: 'a is one', input: [EVENT], expectedOutput: [{ ...EVENT, a: 1 }] }],
  })
  await using visit = await dashboard.visit(`/transformations/${own}/code`)
  const { page } = visit
  await codeOf(page).waitFor()
  await write(page, 'Code', 'export function transformEvent(event) {\n  return { ...event, a: 2 }\n}\n')
  await visit.click(page.getByRole('button', { name: 'Publish' }))
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Takes effect with the next event of 1 destination.').waitFor()
  await dialog.getByText('1 of 1 stored tests fail').waitFor()
  await dialog.getByText('a: 2').waitFor()
  await visit.click(dialog.getByRole('button', { name: 'Publish with 1 failing test' }))
  await dialog.waitFor({ state: 'detached' })
  expect(visit.clicks).toBeLessThanOrEqual(5)
  await dashboard.env.send('/v1/track', { ...EVENT, messageId: 'm-two' }, hook.source.writeKey)
  await dashboard.env.journey('m-two', 'delivered')
  expect(dashboard.env.sink.received.at(-1)?.json.a).toBe(2)

  // An older one comes back.
  await page.goto(`/ui/transformations/${own}/versions`)
  await page
    .getByRole('row', { name: /^Version of/ })
    .nth(1)
    .click()
  await page.getByRole('button', { name: 'Publish this version' }).click()
  await page.getByRole('dialog').getByText('1 of 1 stored tests pass').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await dashboard.env.send('/v1/track', { ...EVENT, messageId: 'm-one' }, hook.source.writeKey)
  await dashboard.env.journey('m-one', 'delivered')
  expect(dashboard.env.sink.received.at(-1)?.json.a).toBe(1)
})

test('a syntax error is refused and marked; what was written survives the end of the tab', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/code`)
  const { page } = visit
  await codeOf(page).waitFor()
  await write(page, 'Code', 'export function transformEvent(event) {\n  return )\n}\n')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.cm-lint-marker-error').waitFor()
  await page.getByRole('alert').waitFor()
  await page.goto('/ui/transformations')
  await page.goto(`/ui/transformations/${id}/code`)
  await page.getByText('This code is an unsaved draft in this browser.').waitFor()
  expect(await codeOf(page).textContent()).toContain('return )')
  await page.getByRole('button', { name: 'Discard it' }).click()
  expect(await codeOf(page).textContent()).toContain('toCents')
})

test('of two people who edit it the second is told, sees the difference, and keeps either', async () => {
  const own = await newTransformation('Shared', 'export function transformEvent(event) {\n  return event\n}\n')
  await using visit = await dashboard.visit(`/transformations/${own}/code`)
  const { page } = visit
  await codeOf(page).waitFor()
  await write(page, 'Code', 'export function transformEvent(event) {\n  return { ...event, mine: 1 }\n}\n')
  const theirs = 'export function transformEvent(event) {\n  return { ...event, theirs: 1 }\n}\n'
  const { headers } = await dashboard.env.api('GET', `/v2/transformations/${own}`)
  await dashboard.env.request(`/v2/transformations/${own}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${dashboard.env.token}`, 'If-Match': headers.get('etag')! },
    body: JSON.stringify({ name: 'Shared', code: theirs }),
  })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone changed this transformation since you opened it.').waitFor()
  await page.getByRole('button', { name: 'See the difference' }).click()
  await page.getByText('theirs: 1').first().waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Someone changed this transformation').waitFor({ state: 'detached' })
  const kept = await dashboard.env.api('GET', `/v2/transformations/${own}`)
  expect(kept.json.transformation.code).toContain('mine: 1')
})

test('code that was begun before a colleague saved is still over the older version after a reload', async () => {
  const code = (member: string) => `export function transformEvent(event) {\n  return { ...event, ${member}: 1 }\n}\n`
  const own = await newTransformation('Reloaded', code('none'))
  const saved = async () =>
    (await dashboard.env.api('GET', `/v2/transformations/${own}`)).json.transformation.code as string
  await using visit = await dashboard.visit(`/transformations/${own}/code`)
  const { page } = visit
  const notice = page.getByText('Someone changed this transformation since you opened it.')
  await codeOf(page).waitFor()
  await write(page, 'Code', code('mine'))
  await dashboard.env.api('PUT', `/v2/transformations/${own}`, { name: 'Reloaded', code: code('theirs') })
  await page.getByRole('button', { name: 'Save' }).click()
  await notice.waitFor()
  await write(page, 'Code', code('mineToo'))
  await notice.waitFor({ state: 'detached' })
  await page.reload()
  await notice.waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  expect(await saved()).toBe(code('theirs'))
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await notice.waitFor({ state: 'detached' })
  expect(await saved()).toBe(code('mineToo'))
})

test('your own Publish is no change by someone else', async () => {
  const code = (a: number) => `export function transformEvent(event) {\n  return { ...event, a: ${a} }\n}\n`
  const own = await newTransformation('Published twice', code(1))
  await using visit = await dashboard.visit(`/transformations/${own}/code`)
  const { page } = visit
  await codeOf(page).waitFor()
  await write(page, 'Code', code(2))
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await write(page, 'Code', code(3))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Not saved').waitFor({ state: 'detached' })
  const { json } = await dashboard.env.api('GET', `/v2/transformations/${own}`)
  expect(json.transformation.code).toBe(code(3))
})

test('a run is kept as a test, which is run and removed', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/tests`)
  const { page } = visit
  await page.getByText('No stored tests. Save a run as a test.').waitFor()
  await page.goto(`/ui/transformations/${id}/code?event=m-good`)
  await page.getByText('"m-good"').first().waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('button', { name: 'Save as test' }).click()
  await page.getByLabel('Name of the test').fill('cents are added')
  await page.keyboard.press('Enter')
  await page.getByText('Saved as “cents are added”.').waitFor()
  await page.getByRole('link', { name: 'Tests' }).click()
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByText('pass', { exact: true }).waitFor()
  await page.getByText('cents are added').click()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No stored tests. Save a run as a test.').waitFor()
})

test('a stored test is written anew; of two people who do it the second is told, and keeps either', async () => {
  const own = await newTransformation('Tested', 'export const transformEvent = (event) => ({ ...event, a: 1 })\n')
  const tests = `/v2/transformations/${own}/tests`
  const stored = (id: string, a: number) => ({
    id,
    name: `a is ${a}`,
    input: [EVENT],
    expectedOutput: [{ ...EVENT, a }],
  })
  const put = (...all: object[]) => dashboard.env.api('PUT', tests, { tests: all })
  await put(stored('t1', 1), stored('t2', 7))
  await using visit = await dashboard.visit(`/transformations/${own}/tests`)
  const { page } = visit
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByText('fail', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Name of the test').fill('a is one')
  await write(page, 'Expected events', '[1')
  expect(await page.getByRole('button', { name: 'Save test' }).isDisabled()).toBe(true)
  await write(page, 'Expected events', JSON.stringify({ ...EVENT, a: 1 }))
  await page.getByRole('button', { name: 'Save test' }).click()
  await page.getByRole('textbox', { name: 'Expected events' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Run all' }).click()
  await expect.poll(() => page.getByText('pass', { exact: true }).count()).toBe(2)
  const kept = [stored('t1', 1), { ...stored('t2', 1), name: 'a is one' }]
  expect((await dashboard.env.api('GET', tests)).json.tests).toEqual(kept)

  await page.getByText('a is one').click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Name of the test').fill('mine')
  await put(kept[0]!, { ...kept[1], name: 'theirs' })
  await page.getByRole('button', { name: 'Save test' }).click()
  await page.getByText('Someone changed this transformation since you opened it.').waitFor()
  await page.getByRole('button', { name: 'See the difference' }).click()
  await page.getByText('"name": "theirs"').waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Someone changed this transformation').waitFor({ state: 'detached' })
  const names = async () => (await dashboard.env.api('GET', tests)).json.tests.map(({ name }: { name: string }) => name)
  await expect.poll(names).toEqual(['a is 1', 'mine'])
})

test('live logs are off until they are switched on', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/logs`)
  const { page } = visit
  await page.getByText('Live logs are off.').waitFor()
  await page.getByRole('switch', { name: 'Live logs' }).click()
  await page.getByText('No log lines yet.').waitFor()
  await dashboard.env.send('/v1/track', { ...EVENT, messageId: 'm-logged' }, source.writeKey)
  await page.getByText('Log: price 18.5').waitFor()
})

test('usage names destinations, and transformations of a library', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/usage`)
  const { page } = visit
  await page.getByText('Booking hook').waitFor()
  await page.getByText('Events per 10 s, last hour').waitFor()
  await page.goto(`/ui/libraries/${libraryId}/usage`)
  await page.getByRole('link', { name: 'Add cents' }).waitFor()
  await page.getByRole('button', { name: 'Delete library' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Library is in use').waitFor()
})

test('code that nobody uses is deleted', async () => {
  const own = await newTransformation('Unused', 'export function transformEvent(event) {\n  return event\n}\n')
  await using visit = await dashboard.visit(`/transformations/${own}/usage`)
  const { page } = visit
  await page.getByText('No destination uses it. Attach it to one.').waitFor()
  await page.getByRole('button', { name: 'Delete transformation' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/ui/transformations')
  expect((await dashboard.env.api('GET', `/v2/transformations/${own}`)).status).toBe(404)
})

test('a new one begins with a template, a library with its import name', async () => {
  await using visit = await dashboard.visit('/transformations')
  const { page } = visit
  await page.getByRole('button', { name: 'New transformation' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Masked')
  await page.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option').nth(1).click()
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.waitForURL('**/transformations/*/code')
  await page.getByText('never published').waitFor()
  await page.goto('/ui/libraries')
  await page.getByRole('button', { name: 'New library' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('price rules!')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByText('name is already in use').waitFor()
})

test('a viewer sees all and changes nothing; an unknown id, and an empty list, say so', async () => {
  const token = await dashboard.newUser('viewer')
  await using visit = await dashboard.visit(`/transformations/${id}/code`, { token, email: 'viewer@cinema.example' })
  const { page } = visit
  await codeOf(page).waitFor()
  for (const name of ['Save', 'Publish', 'Run']) {
    expect(await page.getByRole('button', { name, exact: true }).isDisabled()).toBe(true)
  }
  await page.goto('/ui/transformations/3nYVQeCTUeuJkM9lAjxVjmbtYyv/code')
  await page.getByText('Transformation 3nYVQeCTUeuJkM9lAjxVjmbtYyv does not exist, or was deleted.').waitFor()
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit(`/transformations/${id}/code?event=m-bad`, { height: 740 })
  const { page } = visit
  await page.getByText('"price": -1').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('RangeError: price below zero').first().waitFor()
  expect(await visit.flaws()).toEqual([])
  for (const path of ['/transformations', `/transformations/${id}/versions`, `/libraries/${libraryId}/code`]) {
    await page.goto(`/ui${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect([path, await visit.flaws()]).toEqual([path, []])
  }
})
