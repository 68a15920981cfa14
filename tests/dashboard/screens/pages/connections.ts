import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  {
    name: 'connection rules',
    path: ({ connectionId }) => connectionId && `/connections/${connectionId}`,
    isWhole: true,
  },
  {
    name: 'connection rules with a fault',
    path: ({ connectionId }) => connectionId && `/connections/${connectionId}`,
    states: ['full'],
    isWhole: true,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add rule' }).click()
      await page.getByRole('button', { name: 'Add condition' }).last().click()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('is required').waitFor()
    },
  },
]
