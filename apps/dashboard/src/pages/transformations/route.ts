import type { PageRoute } from '../../shell/page/page-route.ts'
import { codeListSearch, codeSearch } from './code-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/transformations',
    title: 'Transformations',
    load: () => import('./transformations-page.tsx'),
    component: 'TransformationsPage',
    search: codeListSearch,
  },
  { path: '/transformations/$id', redirectTo: '/transformations/$id/code' },
  {
    path: '/transformations/$id/$tab',
    title: 'Transformation',
    load: () => import('./transformation-page.tsx'),
    component: 'TransformationPage',
    search: codeSearch,
  },
  {
    path: '/libraries',
    title: 'Libraries',
    load: () => import('./libraries-page.tsx'),
    component: 'LibrariesPage',
    search: codeListSearch,
  },
  { path: '/libraries/$id', redirectTo: '/libraries/$id/code' },
  {
    path: '/libraries/$id/$tab',
    title: 'Library',
    load: () => import('./library-page.tsx'),
    component: 'LibraryPage',
    search: codeSearch,
  },
]
