import type { PageRoute } from '../../shell/page/page-route.ts'
import { newReplaySearch } from './replays-search.ts'

export const routes: readonly PageRoute[] = [
  { path: '/replays', title: 'Replays', load: () => import('./replays-page.tsx'), component: 'ReplaysPage' },
  {
    path: '/replays/new',
    title: 'New replay',
    load: () => import('./new-replay-page.tsx'),
    component: 'NewReplayPage',
    search: newReplaySearch,
  },
  { path: '/replays/$id', title: 'Replay', load: () => import('./replay-page.tsx'), component: 'ReplayPage' },
]
