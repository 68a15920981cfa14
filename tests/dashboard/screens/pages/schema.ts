import type { Page } from 'playwright-core'
import type { Screen } from '../screen.ts'

const TABS = ['Keys', 'Versions', 'Missing keys', 'Frequent values', 'Samples', 'JSON Schema']

/** The one whose shape changed. */
async function openModel(page: Page): Promise<void> {
  await page.getByRole('row').filter({ hasText: 'Seat Reserved' }).filter({ hasText: 'Cinema app' }).click()
  await page.getByRole('link', { name: 'Versions' }).waitFor()
}

export const screens: readonly Screen[] = [
  { name: 'schema', path: () => '/schema' },
  ...TABS.map(
    (tab): Screen => ({
      name: `model ${tab.toLowerCase()}`,
      path: () => '/schema',
      states: ['full'],
      prepare: async (page) => {
        await openModel(page)
        await page.getByRole('link', { name: tab, exact: true }).click()
        await page.waitForTimeout(500)
      },
    }),
  ),
  { name: 'source schema', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/schema` },
]
