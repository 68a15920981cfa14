import type { PageRoute } from '../../shell/page/page-route.ts'
import { eventsSearch } from './events-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/events',
    title: 'Events',
    load: () => import('./events-page.tsx'),
    component: 'EventsPage',
    search: eventsSearch,
  },
  {
    path: '/events/$messageId',
    title: 'Event',
    load: () => import('./trace/trace-page.tsx'),
    component: 'TracePage',
  },
]
