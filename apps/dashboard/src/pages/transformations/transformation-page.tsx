import { lazy } from 'react'
import { TRANSFORMATION } from './code-kind.ts'
import { CodePage, type CodeTab } from './code-page.tsx'

const TABS: readonly CodeTab[] = [
  {
    name: 'code',
    text: 'Code',
    Content: lazy(() => import('./code/code-tab.tsx').then(({ CodeTab }) => ({ default: CodeTab }))),
  },
  {
    name: 'versions',
    text: 'Versions',
    Content: lazy(() => import('./versions/versions-tab.tsx').then(({ VersionsTab }) => ({ default: VersionsTab }))),
  },
  {
    name: 'tests',
    text: 'Tests',
    Content: lazy(() => import('./tests-tab.tsx').then(({ TestsTab }) => ({ default: TestsTab }))),
  },
  {
    name: 'usage',
    text: 'Usage',
    Content: lazy(() => import('./usage-tab.tsx').then(({ UsageTab }) => ({ default: UsageTab }))),
  },
  {
    name: 'logs',
    text: 'Logs',
    Content: lazy(() => import('./logs-tab.tsx').then(({ LogsTab }) => ({ default: LogsTab }))),
  },
]

export function TransformationPage() {
  return <CodePage kind={TRANSFORMATION} tabs={TABS} />
}
