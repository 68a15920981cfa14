import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [{ name: 'sign in', path: () => '/sign-in', states: ['full'] }]
