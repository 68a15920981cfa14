import type { PageRoute } from '../../shell/page/page-route.ts'
import { askForHome } from './ask-for-home.ts'
import { homeSearch } from './home-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/',
    title: 'Home',
    load: () => import('./home-page.tsx'),
    component: 'HomePage',
    search: homeSearch,
    ask: askForHome,
  },
]
