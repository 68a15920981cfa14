import type { PageRoute } from '../../shell/page/page-route.ts'
import { text } from '../../shell/search-values.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/sign-in',
    title: 'Sign in',
    load: () => import('./sign-in-page.tsx'),
    component: 'SignInPage',
    search: { next: text },
    isOpen: true,
  },
]
