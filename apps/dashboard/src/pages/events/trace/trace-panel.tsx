import { Suspense } from 'react'
import { shownText } from '../../../components/json/shown-text.ts'
import { lazyPart } from '../../../components/lazy-part.ts'
import { SidePanel } from '../../../components/side-panel.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { eventsSearch } from '../events-search.ts'

const Trace = lazyPart(() => import('./trace.tsx').then(({ Trace }) => ({ default: Trace })))

/** The trace of one event beside a list of events. */
export function TracePanel({ messageId }: { readonly messageId: string }) {
  const [, set] = useSearchValues(eventsSearch)
  return (
    <SidePanel
      label={`Event ${messageId}`}
      title={shownText(messageId)}
      to={`/events/${encodeURIComponent(messageId)}`}
      onClose={() => set({ event: undefined }, 'push')}
    >
      <Suspense>
        <Trace key={messageId} messageId={messageId} />
      </Suspense>
    </SidePanel>
  )
}
