import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* What pages say in states that are rare, and what a session that ended leaves behind (dashboard.md §2, §3, §15 lines 3, 5, 6). */

let dashboard: Dashboard
let source: SourceMade
beforeAll(async () => {
  dashboard = await Dashboard.open()
  source = await dashboard.env.source({ name: 'Cinema app' })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('what has not come after 10 s says for how long, and can be asked for again', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  let asked = 0
  // The first one is never answered.
  dashboard.proxy.fate = (path) => (path.startsWith('/v2/sources') && asked++ === 0 ? 'hold' : 'pass')
  await page.goto('/ui/sources')
  await page.getByText(/^Still loading\. No answer from the server for 1\d s\.$/).waitFor()
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('row', { name: 'Cinema app' }).waitFor()
  dashboard.proxy.fate = () => 'pass'
})

test('a fault of our own ends at its panel', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  await page.route('**/v2/sources?*', (route) => route.fulfill({ json: { sources: [null], paging: { next: '' } } }))
  await page.goto('/ui/sources')
  await page.getByText('This part of the page failed. The rest of the page works.').waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Replays' }).click()
  await page.getByText('No replays yet.').waitFor()
  // React tells the console.
  expect(visit.faults.splice(0).length).toBeGreaterThan(0)
})

test('a page whose thing is not there, or cannot be read, says what it was to be', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  for (const [path, thing] of [
    ['/sources/none/setup', 'Source'],
    ['/destinations/none/overview', 'Destination'],
    ['/transformations/none/code', 'Transformation'],
    ['/replays/none', 'Replay'],
    ['/schema/none', 'Model'],
  ] as const) {
    await page.goto(`/ui${path}`)
    await page.getByRole('heading', { name: thing, exact: true }).waitFor()
    await page.getByText(`${thing} none does not exist, or was deleted.`).waitFor()
  }
})

test('of two who change a source the second may load what the first wrote', async () => {
  const { id } = await dashboard.env.source({ name: 'Twice' })
  await using visit = await dashboard.visit(`/sources/${id}/settings`)
  const { page } = visit
  await page.getByLabel('Name').fill('Twice, mine')
  await dashboard.env.api('PATCH', `/v2/sources/${id}`, { name: 'Twice, theirs' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone changed this source since you opened it.').waitFor()
  await page.getByRole('button', { name: 'Load theirs' }).click()
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Twice, theirs')
  expect(await page.getByText('Someone changed this').count()).toBe(0)
})

test.each([
  ['/sources/{id}/refused', 'No refused requests.'],
  ['/transformations', 'No transformations yet. Start from a template.'],
])('%s with nothing in it: %s', async (path, text) => {
  await using visit = await dashboard.visit(path.replace('{id}', source.id))
  await visit.page.getByText(text).waitFor()
})

test('who is signed out while writing signs in over the page, and goes on writing', async () => {
  const { env } = dashboard
  const { json } = await env.api('POST', '/v2/access-tokens', { name: 'short', role: 'admin' })
  await using visit = await dashboard.visit('/sources/new', { token: json.token })
  const { page } = visit
  await page.getByLabel('Name').fill('Written before')
  await env.api('DELETE', `/v2/access-tokens/${json.accessToken.id}`)
  await page.getByRole('button', { name: 'Create source' }).click()
  const over = page.getByRole('dialog', { name: 'Sign in' })
  await over.getByText('You were signed out. Sign in to continue.').waitFor()
  await over.getByLabel('Personal access token').fill(env.token)
  await over.getByRole('button', { name: 'Sign in' }).click()
  await over.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Name').inputValue()).toBe('Written before')
  await page.getByRole('button', { name: 'Create source' }).click()
  await page.getByRole('heading', { name: 'Written before' }).waitFor()
})

test('a form that another port of this host posts has the cookie, and changes nothing', async () => {
  const { env, proxy } = dashboard
  const form = `<form method="post" enctype="text/plain" action="${proxy.url}/v2/sources">
    <input name='{"name":"Planted","type":"HTTP","x":"' value='"}'><button>Post</button></form>`
  env.sink.answer = () => ({ body: form, headers: { 'Content-Type': 'text/html' } })
  await using visit = await dashboard.visit('/sources')
  const other = await visit.page.context().newPage()
  await other.goto(env.sink.url)
  const [answer] = await Promise.all([
    other.waitForResponse(`${proxy.url}/v2/sources`),
    other.getByRole('button', { name: 'Post' }).click(),
  ])
  expect((await answer.request().allHeaders())['cookie']).toContain('mr_session_')
  expect(answer.status()).toBe(401)
  // Which would have the browser ask for a password.
  expect(String(await answer.headerValue('WWW-Authenticate'))).not.toMatch(/Basic/i)
  const { json } = await env.api('GET', '/v2/sources?q=Planted')
  expect(json.sources).toEqual([])
})
