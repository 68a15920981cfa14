import type { PageRoute } from '../../shell/page/page-route.ts'
import { deadLettersSearch } from './dead-letters-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/dead-letters',
    title: 'Dead letters',
    load: () => import('./dead-letters-page.tsx'),
    component: 'DeadLettersPage',
    search: deadLettersSearch,
  },
]
