import type { PageRoute } from '../../shell/page/page-route.ts'
import { eventsSearch } from '../events/events-search.ts'
import { sourcesSearch } from './sources-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/sources',
    title: 'Sources',
    load: () => import('./sources-page.tsx'),
    component: 'SourcesPage',
    search: sourcesSearch,
  },
  {
    path: '/sources/new',
    title: 'New source',
    load: () => import('./new-source-page.tsx'),
    component: 'NewSourcePage',
  },
  { path: '/sources/$id', redirectTo: '/sources/$id/setup' },
  {
    path: '/sources/$id/$tab',
    title: 'Source',
    load: () => import('./source-page.tsx'),
    component: 'SourcePage',
    search: eventsSearch,
  },
]
