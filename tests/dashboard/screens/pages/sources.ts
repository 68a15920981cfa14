import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'sources', path: () => '/sources' },
  { name: 'new source', path: () => '/sources/new', states: ['full', 'no permission'] },
  { name: 'source setup', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/setup` },
  { name: 'source connections', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/connections` },
  { name: 'source refused', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/refused` },
  { name: 'source settings', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/settings`, isWhole: true },
  {
    name: 'source deletion',
    path: ({ sourceId }) => sourceId && `/sources/${sourceId}/settings`,
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Delete source' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'palette',
    path: () => '/sources',
    states: ['full'],
    prepare: async (page) => {
      await page.keyboard.press('Control+K')
      await page.getByRole('combobox').fill('cin')
      await page.waitForTimeout(500)
    },
  },
]
