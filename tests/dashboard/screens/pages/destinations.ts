import type { Screen } from '../screen.ts'

export const screens: readonly Screen[] = [
  { name: 'destinations', path: () => '/destinations' },
  { name: 'new destination', path: () => '/destinations/new', states: ['full'] },
  { name: 'new http destination', path: () => '/destinations/new?type=HTTP', states: ['full', 'no permission'] },
  ...['overview', 'config', 'transformations', 'connections', 'events'].map(
    (tab): Screen => ({
      name: `destination ${tab}`,
      path: ({ destinationId }) => destinationId && `/destinations/${destinationId}/${tab}`,
    }),
  ),
]
