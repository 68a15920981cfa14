import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'users', path: () => '/settings/users' },
  {
    name: 'new user',
    path: () => '/settings/users',
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: 'New user' }).click()
      await page.getByLabel('E-mail').waitFor()
    },
  },
  {
    name: 'role of a user',
    path: () => '/settings/users',
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Role of viewer@cinema.example' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'credentials', path: () => '/settings/credentials' },
  { name: 'audit', path: () => '/settings/audit' },
  {
    name: 'audit entry',
    path: () => '/settings/audit?kind=destination',
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('row').nth(1).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'configuration', path: () => '/settings/configuration', isWhole: true },
  { name: 'health', path: () => '/settings/health', isWhole: true },
  { name: 'backup', path: () => '/settings/backup' },
]
