import type { Screen } from '../screen.ts'

const open = async (page: Parameters<NonNullable<Screen['prepare']>>[0], tab: string) => {
  await page.getByRole('row').nth(1).click()
  await page.getByRole('link', { name: tab }).click()
  await page.waitForTimeout(1_500)
}

export const screens: readonly Screen[] = [
  { name: 'transformations', path: () => '/transformations' },
  { name: 'libraries', path: () => '/libraries', states: ['full', 'empty'] },
  ...['Code', 'Versions', 'Tests', 'Usage', 'Logs'].map(
    (tab): Screen => ({
      name: `transformation ${tab.toLowerCase()}`,
      path: () => '/transformations',
      states: ['full'],
      prepare: (page) => open(page, tab),
    }),
  ),
  ...['Code', 'Versions', 'Usage'].map(
    (tab): Screen => ({
      name: `library ${tab.toLowerCase()}`,
      path: () => '/libraries',
      states: ['full'],
      prepare: (page) => open(page, tab),
    }),
  ),
]
