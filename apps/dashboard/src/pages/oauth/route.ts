import type { PageRoute } from '../../shell/page/page-route.ts'
import { text } from '../../shell/search-values.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/oauth',
    title: 'Authorization',
    load: () => import('./oauth-page.tsx'),
    component: 'OAuthPage',
    search: { code: text, state: text, error: text },
    isOpen: true,
  },
]
