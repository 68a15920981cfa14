import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../e2e/command.ts'
import { Dashboard } from './browser.ts'
import { holdRequest } from './held-request.ts'

/* Settings but for one's own account (dashboard.md §11, §15 lines 2, 8, 9, 22, 29, 30). */

const SECRET = 'Bearer 7Hq2-cinema-secret-value'

let dashboard: Dashboard
let hookId: string
let viewerToken: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  const source = await env.source({ name: 'Cinema app', type: 'Cordova' })
  const headers = [{ from: 'Authorization', to: SECRET }]
  ;({ destinationId: hookId } = await env.webhook({ source, name: 'Booking hook', config: { headers } }))
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what looks like a variable of the file, and is none
  const code = 'export const transformEvent = (event) => ({ ...event, text: `${NAME} <img onerror=alert(1)>` })'
  await env.api('POST', '/v2/transformations?publish=true', { name: 'Add text', code })
  viewerToken = await dashboard.newUser('viewer')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const api = (method: string, path: string, body?: unknown) => dashboard.env.api(method, path, body)

test('a user is made, and the first token shown once; then the role is changed and the user removed', async () => {
  await using visit = await dashboard.visit('/settings/users')
  const { page } = visit
  await page.getByRole('button', { name: 'New user' }).click()
  await page.getByLabel('E-mail').fill('ada@cinema.example')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'The first token of ada@cinema.example' })
  const token = (await dialog.locator('code').textContent())!
  await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  expect(await page.content()).not.toContain(token)
  const row = page.getByRole('row', { name: 'ada@cinema.example' })
  expect(await row.textContent()).toMatch(/viewer1never/)

  await row.getByRole('button', { name: 'Role of ada@cinema.example' }).click()
  await page.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'editor' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => row.textContent()).toContain('editor')

  await row.getByRole('button', { name: 'Remove ada@cinema.example' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  const { json } = await api('GET', '/v2/users')
  expect(json.users.map(({ email }: { email: string }) => email)).not.toContain('ada@cinema.example')
})

test('Esc does not close the dialog while it creates a user, whose token is then shown', async () => {
  await using visit = await dashboard.visit('/settings/users')
  const { page } = visit
  const creation = await holdRequest(page, 'POST', '**/v2/users')
  await page.getByRole('button', { name: 'New user' }).click()
  await page.getByLabel('E-mail').fill('slow@cinema.example')
  await page.getByLabel('E-mail').press('Enter')
  await creation.sent
  await page.keyboard.press('Escape')
  creation.release()
  const dialog = page.getByRole('dialog', { name: 'The first token of slow@cinema.example' })
  expect(await dialog.locator('code').textContent()).toMatch(/^mr_pat_/)
})

test('Esc does not close a confirmation while it writes, so that a refusal is seen', async () => {
  await using visit = await dashboard.visit('/settings/users')
  const { page } = visit
  const removal = await holdRequest(page, 'DELETE', '**/v2/users/*')
  await page.getByRole('button', { name: 'Remove owner@localhost' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await removal.sent
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  removal.release()
  await dialog.getByText('Last admin').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('Esc does not close the dialog of a credential while it is saved', async () => {
  await using visit = await dashboard.visit('/settings/credentials')
  const { page } = visit
  const saving = await holdRequest(page, 'PUT', '**/v2/credentials/*')
  await page.getByRole('button', { name: 'New credential' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Key').fill('slow_api')
  await dialog.getByRole('textbox', { name: 'Value' }).fill('a-value-of-the-slow-api')
  await page.keyboard.press('Enter')
  await saving.sent
  await dialog.locator('[type=submit][data-loading=true]').waitFor()
  await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(true)
  saving.release()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('slow_api').waitFor()
})

test('the spinner of a button that writes lies in its middle, also where less motion is asked for', async () => {
  await using visit = await dashboard.visit('/settings/users')
  const { page } = visit
  const creation = await holdRequest(page, 'POST', '**/v2/users')
  await page.getByRole('button', { name: 'New user' }).click()
  await page.getByLabel('E-mail').fill('spinner@cinema.example')
  await page.keyboard.press('Enter')
  await creation.sent
  const button = page.locator('[type=submit][data-loading=true]')
  const middle = async (part: Locator) => {
    const { x, y, width, height } = (await part.boundingBox())!
    return [x + width / 2, y + height / 2] as const
  }
  const [x, y] = await middle(button)
  const [spinnerX, spinnerY] = await middle(button.locator('.mantine-Loader-root'))
  expect(Math.abs(spinnerX - x)).toBeLessThan(2)
  expect(Math.abs(spinnerY - y)).toBeLessThan(2)
})

test('a refused write says why, and the dialog stays', async () => {
  await using visit = await dashboard.visit('/settings/users')
  const { page } = visit
  await page.getByRole('button', { name: 'Remove owner@localhost' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('Last admin').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'New user' }).click()
  await page.getByLabel('E-mail').fill('viewer@cinema.example')
  await page.keyboard.press('Enter')
  await page.getByText('email is already in use').waitFor()
  expect(await page.getByLabel('E-mail').inputValue()).toBe('viewer@cinema.example')
})

test.each(['users', 'audit'])('a viewer is told whom to ask for /settings/%s', async (tab) => {
  await using visit = await dashboard.visit(`/settings/${tab}`, { token: viewerToken, email: 'viewer@cinema.example' })
  await visit.page
    .getByText('This page needs the role admin. You are signed in as viewer@cinema.example with the role viewer.')
    .waitFor()
})

test('a viewer has no enabled control above the role', async () => {
  await api('PUT', '/v2/credentials/geo_api', { value: 'a-value-of-the-geo-api' })
  await using visit = await dashboard.visit('/settings/credentials', {
    token: viewerToken,
    email: 'viewer@cinema.example',
  })
  const { page } = visit
  for (const name of ['New credential', 'Replace geo_api', 'Delete geo_api']) {
    const button = page.getByRole('button', { name })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
  }
  await page.getByRole('link', { name: 'Backup' }).click()
  const start = page.getByRole('button', { name: 'Start backup' })
  await start.waitFor()
  expect(await start.isDisabled()).toBe(true)
})

test('a credential is saved, replaced and deleted, and its value is nowhere', async () => {
  await using visit = await dashboard.visit('/settings/credentials')
  const { page } = visit
  await page.getByRole('button', { name: 'New credential' }).first().click()
  await page.getByRole('textbox', { name: 'Key' }).fill('mail_api')
  await page.getByLabel('Value').fill('s3cret-of-the-mail-api')
  await page.getByRole('button', { name: 'Save' }).click()
  const row = page.getByRole('row', { name: 'mail_api' })
  await row.waitFor()
  expect(await page.content()).not.toContain('s3cret-of-the-mail-api')
  await row.getByRole('button', { name: 'Replace mail_api' }).click()
  await page.getByLabel('Value').fill('another')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await row.getByRole('button', { name: 'Delete mail_api' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await row.waitFor({ state: 'detached' })
})

test('audit: the link holds filter and open entry, a bad filter is left out, secrets are masked', async () => {
  await api('PATCH', `/v2/destinations/${hookId}`, {
    name: 'Booking hook',
    config: { webhookUrl: 'https://b.example/' },
  })
  await using visit = await dashboard.visit('/settings/audit?kind=destination&colour=blue')
  const { page } = visit
  await page.getByText('The link has an invalid filter (colour). It is ignored.').waitFor()
  const row = page.getByRole('row', { name: 'update destination by owner@localhost' })
  await row.first().click()
  const entry = page.getByRole('dialog', { name: 'update destination' })
  await entry.getByText('/config/webhookUrl').waitFor()
  const requestId = (await entry.locator('dd', { hasText: /^[0-9a-f-]{36}$/ }).textContent())!
  expect(await page.content()).not.toContain(SECRET)
  await page.reload()
  await entry.getByText(requestId).waitFor()
  expect(new URL(page.url()).searchParams.get('kind')).toBe('destination')
  await page.keyboard.press('Escape')
  await entry.waitFor({ state: 'detached' })
  await page.getByLabel('Actor').fill('nobody@cinema.example')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row', { name: 'create source by owner@localhost' }).first().waitFor()
})

test("the audit log's curl gives the entries that are shown", async () => {
  await using visit = await dashboard.visit('/settings/audit?kind=source')
  const { page } = visit
  await page.getByRole('row', { name: 'create source by owner@localhost' }).waitFor()
  await page.getByRole('button', { name: 'API: this view as a curl command' }).click()
  const curl = (await page.getByText('curl ').textContent())!
  const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s`], {
    env: { ...process.env, MILLRACE_TOKEN: dashboard.env.token },
  })
  expect(JSON.parse(stdout).entries.map(({ action, kind }: Record<string, string>) => [action, kind])).toEqual([
    ['create', 'source'],
  ])
})

test('the downloaded configuration is what the server has: a plan finds no change', async () => {
  await using visit = await dashboard.visit('/settings/configuration')
  const { page } = visit
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download millrace.yaml' }).click(),
  ])
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-download-'))
  try {
    const file = path.join(folder, download.suggestedFilename())
    await download.saveAs(file)
    const { url, token } = dashboard.env
    const { code } = await command(['plan', '--file', file, '--url', url], { MILLRACE_TOKEN: token })
    expect(code).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('health tells of every check and setting, and of no secret', async () => {
  await using visit = await dashboard.visit('/settings/health')
  const { page } = visit
  const checks = page.getByRole('region', { name: 'Checks' })
  for (const name of ['log', 'disk', 'config', 'catalog', 'delivery', 'backlog'])
    await checks.getByText(name, { exact: true }).waitFor()
  await page.getByText('MILLRACE_OWNER_TOKEN').waitFor()
  expect(await page.content()).not.toContain(dashboard.env.token)
})

test('a backup is started, and its end is told', async () => {
  await using visit = await dashboard.visit('/settings/backup')
  const { page } = visit
  await page.getByText('The secret key is not in the backup. Keep it elsewhere.').waitFor()
  await page.getByText('No backups yet.').waitFor()
  await page.getByRole('button', { name: 'Start backup' }).click()
  await page.getByRole('region', { name: 'Last backup' }).getByText('done').waitFor()
})

test.each(['users', 'credentials', 'audit', 'configuration', 'health', 'backup'])(
  '/settings/%s: axe finds nothing and nothing scrolls sideways',
  async (tab) => {
    await using visit = await dashboard.visit(`/settings/${tab}`)
    await visit.settled()
    expect(await visit.flaws()).toEqual([])
  },
)
