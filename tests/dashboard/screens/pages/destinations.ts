import type { Screen } from '../screen.ts'

const TYPES = [
  ...['WEBHOOK', 'HTTP', 'SLACK', 'GA4', 'AMPLITUDE', 'MIXPANEL'],
  ...['BRAZE', 'KLAVIYO', 'CUSTOMERIO', 'FACEBOOK_CAPI', 'HUBSPOT'],
]
const TABS = ['overview', 'config', 'transformations', 'connections', 'events']

export const screens: readonly Screen[] = [
  { name: 'destinations', path: () => '/destinations' },
  { name: 'new destination', path: () => '/destinations/new', states: ['full'] },
  ...TYPES.map(
    (type): Screen => ({
      name: `new ${type.toLowerCase()} destination`,
      path: () => `/destinations/new?type=${type}`,
      states: type === 'HTTP' ? ['full', 'no permission'] : ['full'],
      isWhole: true,
    }),
  ),
  ...TABS.map(
    (tab): Screen => ({
      name: `destination ${tab}`,
      path: ({ destinationId }) => destinationId && `/destinations/${destinationId}/${tab}`,
      isWhole: true,
    }),
  ),
  {
    name: 'destination in trouble',
    path: ({ refusingId }) => refusingId && `/destinations/${refusingId}/overview`,
    states: ['full'],
    isWhole: true,
  },
  {
    name: 'destination deletion',
    path: ({ refusingId }) => refusingId && `/destinations/${refusingId}/config`,
    states: ['full'],
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Delete destination' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
]
