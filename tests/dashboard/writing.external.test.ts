import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* What pages say of writes that fail or come twice (dashboard.md §2 [U4]). */

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
})
beforeEach(() => {
  dashboard.proxy.fate = () => 'pass'
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const api = (method: string, path: string, body?: unknown) => dashboard.env.api(method, path, body)

test('a write without an answer, and one too many, say what to do: neither is retried automatically', async () => {
  await using visit = await dashboard.visit('/sources/new')
  const { page } = visit
  await page.getByLabel('Name').fill('Cinema app')
  const create = page.getByRole('button', { name: 'Create source' })
  for (const [fate, text] of [
    ['cut', 'No answer from the server. It may have received the request: check before you try again.'],
    [429, 'Too many requests. Try again in 7 s.'],
  ] as const) {
    dashboard.proxy.fate = (path, method) => (method === 'POST' && path === '/v2/sources' ? fate : 'pass')
    await create.click()
    await page.getByRole('alert').filter({ hasText: text }).waitFor()
  }
  expect((await api('GET', '/v2/sources?q=Cinema')).json.sources).toEqual([])
})

test('a write that the end of the session stopped says so after the sign-in', async () => {
  const { json } = await api('POST', '/v2/access-tokens', { name: 'short', role: 'admin' })
  await using visit = await dashboard.visit('/sources/new', { token: json.token })
  const { page } = visit
  await page.getByLabel('Name').fill('Written before')
  await api('DELETE', `/v2/access-tokens/${json.accessToken.id}`)
  await page.getByRole('button', { name: 'Create source' }).click()
  const over = page.getByRole('dialog', { name: 'Sign in' })
  await over.getByLabel('Personal access token').fill(dashboard.env.token)
  await over.getByRole('button', { name: 'Sign in' }).click()
  await over.waitFor({ state: 'detached' })
  await page.getByText('The session ended before this was done. Try again.').waitFor()
})

test('an action over a state that someone changed says so and shows the current state, so that a second try works', async () => {
  const { destinationId: id } = await dashboard.env.webhook({ name: 'Stale' })
  await api('PATCH', `/v2/destinations/${id}`, { enabled: false })
  await using visit = await dashboard.visit(`/destinations/${id}/overview`)
  const { page } = visit
  const enable = page.getByRole('button', { name: 'Enable', exact: true })
  await enable.waitFor()
  await api('PATCH', `/v2/destinations/${id}`, { name: 'Theirs' })
  await enable.click()
  await page.getByText('Someone changed this first. The page now shows the current state:').waitFor()
  await page.getByRole('heading', { name: 'Theirs' }).waitFor()
  await enable.click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await api('DELETE', `/v2/destinations/${id}?cascade=true&discard=true`)
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText(`Destination ${id} does not exist, or was deleted.`).waitFor()
})

test.each(['source', 'destination'] as const)('a connection of a %s that cannot be switched says why', async (end) => {
  const { source, destinationId } = await dashboard.env.webhook({ name: 'Switched' })
  const path = end === 'source' ? `/sources/${source.id}` : `/destinations/${destinationId}`
  await using visit = await dashboard.visit(`${path}/connections`)
  const { page } = visit
  const connected = page.getByRole('switch', { name: /^Connected to/ })
  for (const failing of ['GET', 'PATCH']) {
    dashboard.proxy.fate = (url, method) => (method === failing && url.startsWith('/v2/connections/') ? 503 : 'pass')
    await connected.click()
    await page.getByText('The server could not answer (503). Request req-1.').waitFor()
  }
  dashboard.proxy.fate = () => 'pass'
  await connected.click()
  await expect.poll(() => connected.isChecked()).toBe(false)
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('a sign-out that the server did not confirm says so, and can be tried again', async () => {
  const { json } = await api('POST', '/v2/access-tokens', { name: 'leaves', role: 'admin' })
  await using visit = await dashboard.visit('/sources', { token: json.token })
  const { page } = visit
  dashboard.proxy.fate = (path, method) => (method === 'DELETE' && path === '/v2/session' ? 'cut' : 'pass')
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByText('No answer from the server. It may have received the request').waitFor()
  dashboard.proxy.fate = () => 'pass'
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/ui/sign-in')
})

test('code that is saved again while a save is under way is saved once, and nobody is said to have changed it', async () => {
  const code = 'export const transformEvent = (event) => event\n'
  const { json } = await api('POST', '/v2/transformations', { name: 'Saved once', code })
  await using visit = await dashboard.visit(`/transformations/${json.transformation.id}/code`)
  const { page } = visit
  const saves = writesOf(page, 'PUT')
  dashboard.proxy.fate = (_, method) => (method === 'PUT' ? 'hold' : 'pass')
  await page.keyboard.press('Control+s')
  await page.getByRole('textbox', { name: 'Code', exact: true }).click()
  await page.keyboard.insertText('// more\n')
  await page.getByText('Not saved').waitFor()
  await page.keyboard.press('Control+s')
  await expect.poll(() => saves.length).toBe(1)
  await page.keyboard.press('Control+s')
  await expect.poll(() => page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true)
  const path = `/v2/transformations/${json.transformation.id}`
  // The page reads the code again after the save; until then it knows the new state from the answer to the save.
  dashboard.proxy.fate = (asked, method) => (method === 'GET' && asked === path ? 'hold' : 'pass')
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).waitFor()
  expect(saves.length).toBe(1)
  expect(await page.getByText('Someone changed').count()).toBe(0)
})

/** Collects the paths of all writes with this method from now on. */
function writesOf(page: Page, method: string): string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    if (request.method() === method) paths.push(new URL(request.url()).pathname)
  })
  return paths
}
