import { lazyPart } from '../../components/lazy-part.ts'
import { TRANSFORMATION } from './code-kind.ts'
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
    name: 'tests',
    text: 'Tests',
    Content: lazyPart(() => import('./tests-tab.tsx').then(({ TestsTab }) => ({ default: TestsTab }))),
  },
  {
    name: 'usage',
    text: 'Usage',
    Content: lazyPart(() => import('./usage-tab.tsx').then(({ UsageTab }) => ({ default: UsageTab }))),
  },
  {
    name: 'logs',
    text: 'Logs',
    Content: lazyPart(() => import('./logs-tab.tsx').then(({ LogsTab }) => ({ default: LogsTab }))),
  },
]

export function TransformationPage() {
  return <CodePage kind={TRANSFORMATION} tabs={TABS} />
}
