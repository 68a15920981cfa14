import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'home', path: () => '/' },
  { name: 'home focus', path: ({ sourceId }) => sourceId && `/?focus=${sourceId}`, states: ['full'] },
]
