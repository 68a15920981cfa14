import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/* What is around every page: sections, palette, keys, theme (dashboard.md §3, §12). */

let dashboard: Dashboard
let sourceId: string
beforeAll(async () => {
  dashboard = await Dashboard.open()
  ;({ id: sourceId } = await dashboard.env.source({ name: 'Cinema app' }))
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('the palette finds a source by its name and by its id, with the keyboard alone', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  for (const words of ['cinema', sourceId]) {
    await visit.press('Control+K')
    await page.getByRole('combobox', { name: 'Search or go to' }).fill(words)
    await page.getByRole('option', { name: /Cinema app/, selected: true }).waitFor()
    await visit.press('Enter')
    await page.waitForURL(`**/ui/sources/${sourceId}/setup`)
    await page.goto('/ui/settings/account')
    await page.locator('#page').waitFor()
  }
  await page.keyboard.press('Control+K')
  await page.getByRole('option').first().waitFor()
  expect(await visit.axe()).toEqual([])
})

test('while the server searches, the palette keeps what it shows, and Enter waits where nothing matches yet', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/v2/sources?*', async (route) => {
    if (new URL(route.request().url()).searchParams.has('q')) await released
    await route.continue()
  })
  const searched = page.waitForRequest(/v2\/sources\?.*q=cinema/)
  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).pressSequentially('cinema')
  const found = page.getByRole('option', { name: /Cinema app/, selected: true })
  await searched
  await found.waitFor()
  await page.keyboard.press('Escape')

  await page.reload()
  await page.locator('#page').waitFor()
  await page.route('**/v2/sources?limit=500', async (route) => {
    await released
    await route.continue()
  })
  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).pressSequentially('cinema')
  await page.getByRole('option', { name: 'Trace messageId "cinema"', selected: true }).waitFor()
  await visit.press('Enter')
  release()
  await page.waitForURL(`**/ui/sources/${sourceId}/setup`)
})

test('the palette finds a tab of the settings', async () => {
  await using visit = await dashboard.visit('/sources')
  const { page } = visit
  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('credent')
  await page.getByRole('option', { name: /Credentials/, selected: true }).waitFor()
  await visit.press('Enter')
  await page.waitForURL('**/ui/settings/credentials')
})

test('the palette goes on where no name of a transformation holds what is typed', async () => {
  await dashboard.env.api('POST', '/v2/transformations', {
    name: 'Add cents',
    code: 'export const transformEvent = (event) => event\n',
  })
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  const listed = page.waitForResponse((response) => response.url().endsWith('/v2/transformations?limit=500'))
  await visit.press('Control+K')
  await (await listed).finished()
  await page.getByRole('combobox', { name: 'Search or go to' }).pressSequentially('xyz')
  await page.getByRole('option', { name: 'Trace messageId "xyz"' }).waitFor()
})

test('single keys go to sections and list themselves, unless they are switched off', async () => {
  await using visit = await dashboard.visit('/settings/account')
  const { page } = visit
  await visit.press('g s')
  await page.getByRole('heading', { name: 'Sources' }).waitFor()
  await visit.press('?')
  const list = page.getByRole('dialog', { name: 'Keyboard' })
  await list.getByText('Go to Sources').waitFor()
  await list.getByRole('switch', { name: 'Single keys' }).click({ force: true })
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await visit.press('g c')
  // Ctrl K works in either case; when it has come, a key before it would have.
  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/ui/sources')
})

test('a theme that is chosen stays over a reload', async () => {
  await using visit = await dashboard.visit('/sources', { theme: 'light' })
  const { page } = visit
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await background()).toBe('rgb(255, 255, 255)')
  await page.getByRole('button', { name: 'Theme: System' }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await expect.poll(background).toBe('rgb(22, 25, 29)')
  await page.reload()
  await page.getByRole('button', { name: 'Theme: Dark' }).waitFor()
  expect(await background()).toBe('rgb(22, 25, 29)')
})

test('at 360 px the sections are in a drawer, which closes once one is chosen', async () => {
  await using visit = await dashboard.visit('/sources', { width: 360, height: 740 })
  const { page } = visit
  await page.getByRole('button', { name: 'Sections' }).click()
  const drawer = page.getByRole('dialog', { name: 'Millrace' })
  await drawer.getByRole('link', { name: 'Settings' }).click()
  await drawer.waitFor({ state: 'detached' })
  await page.waitForURL('**/ui/settings/account')
  expect(await visit.sideways()).toBe(0)
})

test('a path that is not there is told', async () => {
  await using visit = await dashboard.visit('/nowhere')
  await visit.page.getByText('Page /nowhere does not exist, or was deleted.').waitFor()
  await visit.page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  expect(await visit.flaws()).toEqual([])
  await visit.page.getByRole('main').getByRole('link', { name: 'Home' }).click()
  await visit.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
})
