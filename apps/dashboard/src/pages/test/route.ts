import type { PageRoute } from '../../shell/page/page-route.ts'
import { benchSearch } from './bench-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/test',
    title: 'Test bench',
    load: () => import('./bench-page.tsx'),
    component: 'BenchPage',
    search: benchSearch,
  },
]
