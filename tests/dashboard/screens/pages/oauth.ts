import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [{ name: 'return from a service', path: () => '/oauth', states: ['full'] }]
