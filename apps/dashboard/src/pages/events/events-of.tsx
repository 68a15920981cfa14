import { type ReactNode, Suspense } from 'react'
import { BesidePanel } from '../../components/beside-panel.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { useSearchValues } from '../../shell/search-values.ts'
import { EventList } from './event-list.tsx'
import { eventsSearch } from './events-search.ts'

const TracePanel = lazyPart(() => import('./trace/trace-panel.tsx').then(({ TracePanel }) => ({ default: TracePanel })))

interface EventsOfProps {
  /** Of one source or destination alone. The same object as long as nothing changes. */
  readonly fixed?: { readonly source?: string; readonly destination?: string }
  /** Above the list, beside the panel. */
  readonly head?: ReactNode
  /** In place of the list while there is no event at all. */
  readonly empty: ReactNode
}

/** Events with the trace of one beside them; a route that shows it has `eventsSearch` in its own. */
export function EventsOf({ head, ...list }: EventsOfProps) {
  const [{ event }] = useSearchValues(eventsSearch)
  return (
    <BesidePanel
      panel={
        event === undefined ? null : (
          <Suspense>
            <TracePanel messageId={event} />
          </Suspense>
        )
      }
    >
      {head}
      <EventList {...list} />
    </BesidePanel>
  )
}
