import { Suspense } from 'react'
import { useConnections } from '../../api/connections.ts'
import { useDestinations } from '../../api/destinations.ts'
import { useSources } from '../../api/sources.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { together } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'

const Bench = lazyPart(() => import('./bench.tsx').then(({ Bench }) => ({ default: Bench })))

export function BenchPage() {
  const workspace = together({
    sources: useSources(),
    destinations: useDestinations(),
    connections: useConnections(),
  })
  const head = <PageHead title="Test bench" />
  return (
    <>
      {workspace.data === undefined && head}
      <Shown of={workspace}>
        {(data) => (
          <Suspense fallback={head}>
            <Bench workspace={data} />
          </Suspense>
        )}
      </Shown>
    </>
  )
}
