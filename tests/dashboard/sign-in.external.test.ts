import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, signIn } from './browser.ts'

/* Who comes in, where that leads, and what is left of the token (dashboard.md §3, §15 lines 4 to 7). */

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const REFUSED = 'E-mail or token is wrong.'

test('a deep link leads over the sign-in to its page', async () => {
  await using visit = await dashboard.visit('/sources?q=cinema', { token: null })
  const { page } = visit
  await page.waitForURL('**/ui/sign-in?next=*')
  await signIn(page, 'owner@localhost', dashboard.env.token)
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/ui/sources?q=cinema')
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
})

test.each(['https://evil.example/ui/', '//evil.example/ui/', '/v2/me', 'javascript:alert(1)'])(
  'next=%s is not gone to',
  async (next) => {
    await using visit = await dashboard.visit(`/sign-in?next=${encodeURIComponent(next)}`, { token: null })
    await signIn(visit.page, 'owner@localhost', dashboard.env.token)
    expect(new URL(visit.page.url()).origin).toBe(dashboard.proxy.url)
    expect(new URL(visit.page.url()).pathname).toBe('/ui/')
  },
)

test.each([
  ['a wrong token', 'owner@localhost', 'mr_pat_0000000000000000000000000000000000000000'],
  ['a wrong e-mail', 'nobody@localhost', undefined],
])('%s: one text, which does not say what was wrong', async (_what, email, token) => {
  await using visit = await dashboard.visit('/sign-in', { token: null })
  const { page } = visit
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Personal access token').fill(token ?? dashboard.env.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(REFUSED).waitFor()
  expect(await page.getByRole('alert').allTextContents()).toEqual([REFUSED])
})

test('the sign-in says where the first token comes from', async () => {
  await using visit = await dashboard.visit('/sign-in', { token: null })
  await visit.page
    .getByText(
      "The first start printed the owner's token, unless MILLRACE_OWNER_TOKEN set it. To replace it, start the server with a new MILLRACE_OWNER_TOKEN.",
    )
    .waitFor()
})

test('the token is in no storage, URL or later request', async () => {
  await using visit = await dashboard.visit('/sign-in', { token: null })
  const { page } = visit
  const later: string[] = []
  page.on('request', (request) => later.push(JSON.stringify([request.url(), request.headers(), request.postData()])))
  await signIn(page, 'owner@localhost', dashboard.env.token)
  await page.goto('/ui/sources')
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
  const kept = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
  )
  expect(kept).toContain('millrace.session')
  expect(kept).not.toContain(dashboard.env.token)
  const withToken = later.filter((request) => request.includes(dashboard.env.token))
  expect(withToken.length).toBe(1)
  expect(withToken[0]).toContain('/v2/session')
})

test('signing out ends the session on the server', async () => {
  await using visit = await dashboard.visit('/sources')
  const { page } = visit
  const half = await page.evaluate("localStorage.getItem('millrace.session')")
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/ui/sign-in')
  expect(await page.evaluate("localStorage.getItem('millrace.session')")).toBeNull()
  const headers = {
    'X-Millrace-Session': String(half),
    Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
  }
  expect((await dashboard.env.request('/v2/me', { headers })).status).toBe(401)
})

test('revoking the token asks for a new sign-in over the page', async () => {
  const made = await dashboard.env.api('POST', '/v2/access-tokens', { name: 'short', role: 'admin' })
  await using visit = await dashboard.visit('/sources', { token: made.json.token })
  const { page } = visit
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
  await dashboard.env.api('DELETE', `/v2/access-tokens/${made.json.accessToken.id}`)
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox').fill('cinema')
  await page.getByText('You were signed out. Sign in to continue.').waitFor()
  await page.getByLabel('Personal access token').fill(dashboard.env.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('You were signed out. Sign in to continue.').waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
})

test('axe finds nothing on the sign-in and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/sign-in', { token: null, height: 740 })
  await visit.page.getByLabel('E-mail').waitFor()
  expect(await visit.flaws()).toEqual([])
})
