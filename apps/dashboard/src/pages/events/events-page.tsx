import { ApiPopover } from '../../components/api-popover.tsx'
import { BesidePanel } from '../../components/side-panel.tsx'
import { PageHead } from '../../shell/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { EventList } from './event-list.tsx'
import { askedEvents, eventsSearch } from './events-search.ts'
import { NoEvents } from './no-events.tsx'
import { TracePanel } from './trace/trace-panel.tsx'

/** @see contracts/dashboard.md §6 */
export function EventsPage() {
  const [search] = useSearchValues(eventsSearch)
  return (
    <BesidePanel panel={search.event === undefined ? null : <TracePanel messageId={search.event} />}>
      <PageHead title="Events" actions={<ApiPopover path="/v2/events" query={{ ...askedEvents(search) }} />} />
      <EventList empty={<NoEvents />} />
    </BesidePanel>
  )
}
