import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'test bench', path: ({ destinationId }) => destinationId && `/test?destination=${destinationId}` },
  { name: 'test bench, nothing chosen', path: () => '/test', states: ['full', 'empty', 'loading', 'error'] },
  {
    name: 'test bench after a run',
    path: ({ destinationId }) => destinationId && `/test?destination=${destinationId}`,
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Run without sending' }).click()
      await page.getByText('Destination transformation').last().waitFor()
      await page.waitForTimeout(1_000)
    },
  },
]
