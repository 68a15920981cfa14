import { largestModelEvents, largestModelKeys, MAX_MODEL } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Dashboard } from './browser.ts'

/*
 * The largest model that the catalog keeps: 200 versions, 2,000 keys (dashboard.md §15 line 28). How long it takes to open is a row
 * of the benchmarks.
 */

const { versions: VERSIONS, keys: KEYS } = MAX_MODEL

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  const { writeKey } = await env.source({ name: 'Cinema app' })
  for (const event of largestModelEvents()) await env.send('/v1/track', event, writeKey)
  const model = async () => (await env.api('GET', '/schemas/event-models?extras=true')).json[0]
  await vi.waitFor(async () => expect((await model())?.TotalCount).toBe(VERSIONS), { timeout: 30_000 })
  const { VersionCount, Schema } = await model()
  expect([VersionCount, Object.keys(Schema).length]).toEqual([VERSIONS, KEYS])
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('all of its keys and versions are listed, and its diffs are right', async () => {
  await using visit = await dashboard.visit('/schema')
  const { page } = visit
  await page.getByRole('row', { name: 'Largest' }).click()
  await page.getByText('2,000 keys').waitFor()
  await expect
    .poll(() => page.getByRole('table', { name: 'Keys' }).getAttribute('aria-rowcount'))
    .toBe(String(KEYS + 1))
  await page.getByRole('link', { name: 'Versions' }).click()
  const versions = page.getByRole('table', { name: 'Versions' })
  await expect.poll(() => versions.getAttribute('aria-rowcount')).toBe(String(VERSIONS + 1))
  const differences = page.getByRole('region', { name: 'Differences' })
  await differences.getByText('Version 200 against version 199').waitFor()
  const changes = async () => (await differences.getByRole('listitem').allTextContents()).sort()
  expect(await changes()).toEqual(changesOf(VERSIONS - 2, VERSIONS - 1))
  await versions.getByRole('checkbox', { name: 'Version 190' }).click()
  await differences.getByText('Version 200 against version 190').waitFor()
  expect(await changes()).toEqual(changesOf(VERSIONS - 11, VERSIONS - 1))
})

/** What moving the window from one version to another makes of the keys. */
function changesOf(before: number, after: number): string[] {
  const keys = (version: number) => new Set(largestModelKeys(version))
  const added = [...keys(after).difference(keys(before))].map((key) => `addedproperties.${key}float64`)
  const removed = [...keys(before).difference(keys(after))].map((key) => `removedproperties.${key}float64`)
  return [...added, ...removed].sort()
}
