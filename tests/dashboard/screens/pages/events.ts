import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'events', path: () => '/events' },
  { name: 'events trace panel', path: ({ sourceId }) => sourceId && '/events?event=kiosk-2', states: ['full'] },
  { name: 'event', path: () => '/events/kiosk-2' },
  { name: 'source events', path: ({ sourceId }) => sourceId && `/sources/${sourceId}/events`, states: ['full'] },
  { name: 'dead letters', path: () => '/dead-letters' },
  {
    name: 'dead letter panel',
    path: ({ sourceId }) => sourceId && '/dead-letters',
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('table', { name: 'Dead letters' }).locator('[data-row="0"]').click()
      await page.waitForTimeout(500)
    },
  },
  {
    name: 'dead letter replay',
    path: ({ sourceId }) => sourceId && '/dead-letters',
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Send all/ }).click()
      await page.getByRole('dialog').waitFor()
      await page.waitForTimeout(500)
    },
  },
  { name: 'replays', path: () => '/replays' },
  { name: 'replay', path: ({ replayId }) => replayId && `/replays/${replayId}` },
  { name: 'new replay', path: () => '/replays/new', states: ['full', 'no permission'] },
]
