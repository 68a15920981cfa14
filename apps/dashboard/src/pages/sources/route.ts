import type { PageRoute } from '../../shell/page-route.ts'
import { text } from '../../shell/search-values.ts'

export const sourcesSearch = { q: text }

export const routes: readonly PageRoute[] = [
  {
    path: '/sources',
    title: 'Sources',
    load: () => import('./sources-page.tsx'),
    component: 'SourcesPage',
    search: sourcesSearch,
  },
]
