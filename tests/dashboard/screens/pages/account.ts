import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'account', path: () => '/settings/account', states: ['full', 'loading', 'error', 'no permission'] },
  { name: 'new token', path: () => '/settings/account?new=1', states: ['full'] },
]
