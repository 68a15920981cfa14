import { type ReactNode, Suspense } from 'react'
import { BesidePanel } from '../../components/beside-panel.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { useSearchValues } from '../../shell/search-values.ts'
import { EventList } from './event-list.tsx'
import { eventsSearch } from './events-search.ts'

const TracePanel = lazyPart(() => import('./trace/trace-panel.tsx').then(({ TracePanel }) => ({ default: TracePanel })))

interface EventsOfProps {
  /** Only events of one source or destination. The same object until it changes. */
  readonly fixed?: { readonly source?: string; readonly destination?: string }
  /** Content above the list, beside the panel. */
  readonly head?: ReactNode
  /** Shown if there is no event at all. */
  readonly empty: ReactNode
}

/** Events with the trace of one beside them; its route includes `eventsSearch`. */
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
