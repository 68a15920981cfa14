import type { Page } from 'playwright-core'
import type { Screen } from '../screen.ts'

async function openModel(page: Page): Promise<void> {
  await page.getByRole('row').nth(1).click()
  await page.getByRole('link', { name: 'Versions' }).waitFor()
}

export const screens: readonly Screen[] = [
  { name: 'schema', path: () => '/schema' },
  { name: 'model keys', path: () => '/schema', states: ['full'], prepare: openModel },
  ...['Versions', 'Frequent values', 'Samples'].map(
    (tab): Screen => ({
      name: `model ${tab.toLowerCase()}`,
      path: () => '/schema',
      states: ['full'],
      prepare: async (page) => {
        await openModel(page)
        await page.getByRole('link', { name: tab }).click()
        await page.waitForTimeout(500)
      },
    }),
  ),
  { name: 'source schema', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/schema` },
]
