import { lazyPart } from '../../components/lazy-part.ts'
import { LIBRARY } from './code-kind.ts'
import { CodePage, type CodeTab } from './code-page.tsx'

const TABS: readonly CodeTab[] = [
  {
    name: 'code',
    text: 'Code',
    Content: lazyPart(() => import('./code/code-tab.tsx').then(({ CodeTab }) => ({ default: CodeTab }))),
  },
  {
    name: 'versions',
    text: 'Versions',
    Content: lazyPart(() =>
      import('./versions/versions-tab.tsx').then(({ VersionsTab }) => ({ default: VersionsTab })),
    ),
  },
  {
    name: 'usage',
    text: 'Usage',
    Content: lazyPart(() =>
      import('./library-usage-tab.tsx').then(({ LibraryUsageTab }) => ({ default: LibraryUsageTab })),
    ),
  },
]

export function LibraryPage() {
  return <CodePage kind={LIBRARY} tabs={TABS} />
}
