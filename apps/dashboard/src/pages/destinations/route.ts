import type { PageRoute } from '../../shell/page/page-route.ts'
import { eventsSearch } from '../events/events-search.ts'
import { destinationsSearch, newDestinationSearch } from './destinations-search.ts'
import { overviewSearch } from './overview/overview-range.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/destinations',
    title: 'Destinations',
    load: () => import('./destinations-page.tsx'),
    component: 'DestinationsPage',
    search: destinationsSearch,
  },
  {
    path: '/destinations/new',
    title: 'New destination',
    load: () => import('./new-destination-page.tsx'),
    component: 'NewDestinationPage',
    search: newDestinationSearch,
  },
  { path: '/destinations/$id', redirectTo: '/destinations/$id/overview' },
  {
    path: '/destinations/$id/$tab',
    title: 'Destination',
    load: () => import('./destination-page.tsx'),
    component: 'DestinationPage',
    search: { ...eventsSearch, ...overviewSearch },
  },
]
