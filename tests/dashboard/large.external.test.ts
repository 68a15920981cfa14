import { plant, seedAnswer } from '@millrace/dev-env'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'
import { answersOfCurl } from './curl.ts'

/*
 * 1,000 sources, 500 destinations and 100,000 dead letters: lists are opened, scrolled, searched and worked with (dashboard.md
 * §12 "Tables", §15 lines 12 and 29).
 */

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
  dashboard.env.sink.answer = seedAnswer
  await plant(dashboard.env, 'large')
}, 300_000)
afterAll(() => dashboard[Symbol.asyncDispose]())

const table = (page: Page, name: string) => page.getByRole('table', { name, exact: true })
const rowCount = async (of: Locator) => Number(await of.getAttribute('aria-rowcount')) - 1
const toTheEnd = (page: Page) => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')

/** However long the list, only the rows near the window are in the document. */
async function expectFewInDocument(of: Locator): Promise<void> {
  expect(await of.locator('[data-row]').count()).toBeLessThan(100)
}

test('Home shows twelve nodes a column, those in trouble first, and leads to the rest', async () => {
  await using visit = await dashboard.visit('/')
  const { page } = visit
  const flow = page.getByRole('region', { name: 'Flow of events' })
  await flow.getByRole('link', { name: 'and 988 more' }).waitFor()
  await flow.getByRole('link', { name: 'and 488 more' }).waitFor()
  await flow.getByText('5,000 dead').nth(11).waitFor()
  await page.getByRole('link', { name: 'Dead 100k' }).waitFor()
  const needs = page.getByRole('complementary', { name: 'What needs you' })
  await needs.getByText('for 12 other reasons').waitFor()

  await flow.getByRole('button', { name: 'Show only Hook 1 and what it is connected to' }).click()
  // The first source, which feeds all of the refusing ones, and the one whose turn comes again after 500.
  await flow.getByRole('link', { name: 'Source 1', exact: true }).waitFor()
  await flow.getByRole('link', { name: 'Source 501', exact: true }).waitFor()
  await flow.getByRole('button', { name: 'Show all' }).last().click()
  await flow.getByRole('link', { name: 'and 988 more' }).click()
  await expect.poll(() => rowCount(table(page, 'Sources'))).toBe(1_000)
})

test('1,000 sources are scrolled, searched and opened; the palette finds each; curl gives them all', async () => {
  await using visit = await dashboard.visit('/sources')
  const { page } = visit
  const sources = table(page, 'Sources')
  await expect.poll(() => rowCount(sources)).toBe(1_000)
  await toTheEnd(page)
  await sources.getByRole('row', { name: 'Source 1000', exact: true }).waitFor()
  await expectFewInDocument(sources)
  const listed = (await answersOfCurl(page, dashboard.env.token)).flatMap(
    ({ sources }) => sources as { name: string }[],
  )
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(
    Array.from({ length: 1_000 }, (_, n) => `Source ${n + 1}`),
  )

  await page.getByRole('searchbox', { name: 'Name, key or id' }).fill('source 99')
  await expect.poll(() => rowCount(sources)).toBe(11)
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
  await expect.poll(() => sources.locator('[data-row="0"]').getAttribute('aria-label')).toBe('Source 999')
  await sources.getByRole('row', { name: 'Source 990', exact: true }).click()
  await page.getByRole('heading', { name: 'Source 990' }).waitFor()
  await page.getByText('Waiting for the first event').waitFor()

  await visit.press('Control+K')
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('source-777')
  await page.getByRole('option', { name: /^Source 777\b/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Source 777' }).waitFor()
})

test('500 destinations are scrolled, narrowed to those in trouble, and one of them is disabled', async () => {
  await using visit = await dashboard.visit('/destinations')
  const { page } = visit
  const destinations = table(page, 'Destinations')
  await expect.poll(() => rowCount(destinations)).toBe(500)
  await toTheEnd(page)
  await destinations.getByRole('row', { name: 'Hook 500', exact: true }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
  await page.goto('/ui/destinations?state=off')
  await expect.poll(() => rowCount(destinations)).toBe(1)
  await page.goto('/ui/destinations?state=dead&sort=-name')
  await expect.poll(() => rowCount(destinations)).toBe(20)
  await expect.poll(() => destinations.locator('[data-row="0"]').getAttribute('aria-label')).toBe('Hook 20')
  await expectFewInDocument(destinations)
})

test('a filter by one of 1,000 sources is chosen by its name', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await page.getByRole('combobox', { name: 'Source' }).click()
  await page.keyboard.type('Source 1000')
  await page.getByRole('option', { name: 'Source 1000', exact: true }).click()
  await page.getByText('Nothing matches these filters.').waitFor()
})

test('100,000 dead letters: twenty groups, loaded as they are scrolled, chosen as a whole, discarded by the group', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  const groups = table(page, 'Groups')
  const letters = table(page, 'Dead letters')
  await expect.poll(() => rowCount(groups)).toBe(20)
  await page.getByRole('heading', { name: '100,000 events' }).waitFor()
  for (const row of [99, 199, 299]) {
    await toTheEnd(page)
    await letters.locator(`[data-row="${row}"]`).waitFor()
  }
  await expectFewInDocument(letters)
  await page.evaluate('scrollTo(0, 0)')
  await letters.getByRole('checkbox', { name: 'Choose all rows that are loaded' }).check()
  await page.getByRole('button', { name: 'Send all 100,000 again' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Send all 100,000 again' }).waitFor()

  await groups.getByRole('row', { name: /^5,000 at Hook 7: / }).click()
  await page.getByRole('button', { name: 'Discard all 5,000' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Discard 5,000 events of Hook 7? They are not sent any more.').waitFor()
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('done', { exact: true }).waitFor({ timeout: 60_000 })
  await page.goto('/ui/dead-letters')
  await page.getByRole('heading', { name: '95,000 events' }).waitFor()
})

test('every page of the list is asked for once as it is scrolled', async () => {
  await using visit = await dashboard.visit('/dead-letters')
  const { page } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname === '/v2/dead-letters' && url.searchParams.has('cursor')) asked.push(url.search)
  })
  const letters = table(page, 'Dead letters')
  for (const row of [99, 199, 299, 399, 499]) {
    await toTheEnd(page)
    await letters.locator(`[data-row="${row}"]`).waitFor()
  }
  expect(asked).toEqual([...new Set(asked)])
})
