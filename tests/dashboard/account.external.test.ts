import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'
import { holdRequest } from './held-request.ts'

/* One's own tokens (dashboard.md §11, J10, §15 line 9). */

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const tokens = async () => (await dashboard.env.api('GET', '/v2/access-tokens?limit=500')).json.accessTokens

test('J10: a token is made in 4 clicks, is shown once, works, and only its own button closes the dialog', async () => {
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('New access token')
  await visit.press('Enter')
  await page.getByLabel('Name').fill('ci')
  await visit.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Your new token' })
  const token = (await dialog.locator('code').textContent())!
  expect(token).toMatch(/^mr_pat_[0-9A-Za-z]{40}$/)
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  expect(await dialog.isVisible()).toBe(true)
  await visit.click(dialog.getByRole('button', { name: 'I have saved it' }))
  await dialog.waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(4)
  expect(await page.content()).not.toContain(token)
  const me = await dashboard.env.request('/v2/me', { headers: { Authorization: `Bearer ${token}` } })
  expect(me.json.token).toMatchObject({ name: 'ci', role: 'viewer' })
})

test('Esc does not close the dialog while it creates a token, which is then shown', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  const creation = await holdRequest(page, 'POST', '**/v2/access-tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('slow')
  await page.getByLabel('Name').press('Enter')
  await creation.sent
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  creation.release()
  const dialog = page.getByRole('dialog', { name: 'Your new token' })
  expect(await dialog.locator('code').textContent()).toMatch(/^mr_pat_/)
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('J10: a token is revoked in 4 clicks', async () => {
  const { json } = await dashboard.env.api('POST', '/v2/access-tokens', { name: 'laptop', role: 'viewer' })
  await using visit = await dashboard.visit('/')
  const { page } = visit
  await visit.click(page.getByRole('button', { name: 'Account' }))
  await visit.click(page.getByRole('menuitem', { name: 'Account and tokens' }))
  await visit.click(page.getByRole('button', { name: 'Revoke laptop' }))
  await visit.click(page.getByRole('dialog').getByRole('button', { name: 'Revoke' }))
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(visit.clicks).toBe(4)
  expect((await tokens()).map(({ id }: { id: string }) => id)).not.toContain(json.accessToken.id)
})

test('others see their own tokens alone, and make none above their role', async () => {
  const token = await dashboard.newUser('editor')
  await using visit = await dashboard.visit('/settings/account', { token, email: 'editor@cinema.example' })
  const { page } = visit
  await page.getByText('editor@cinema.example').first().waitFor()
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByRole('combobox', { name: 'Role' }).click()
  expect(await page.getByRole('option').allTextContents()).toEqual(['viewer', 'editor'])
})

test('axe finds nothing and nothing scrolls sideways, light and wide or dark and narrow', async () => {
  await using visit = await dashboard.visit('/settings/account')
  await visit.settled()
  expect(await visit.flaws()).toEqual([])
  await visit.page.getByRole('button', { name: 'New token' }).click()
  await visit.page.getByLabel('Name').waitFor()
  expect(await visit.flaws()).toEqual([])
})
