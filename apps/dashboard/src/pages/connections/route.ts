import type { PageRoute } from '../../shell/page/page-route.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/connections/$id',
    title: 'Connection',
    load: () => import('./connection-page.tsx'),
    component: 'ConnectionPage',
  },
]
