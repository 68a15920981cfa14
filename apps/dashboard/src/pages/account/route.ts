import type { PageRoute } from '../../shell/page/page-route.ts'
import { accountSearch } from './account-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/settings/account',
    title: 'Account',
    load: () => import('./account-page.tsx'),
    component: 'AccountPage',
    search: accountSearch,
  },
]
