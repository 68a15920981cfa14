import { ApiPopover } from '../../components/api-popover.tsx'
import { MAX_ROWS } from '../../components/curl-text.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { EventsOf } from './events-of.tsx'
import { askedEvents, eventsSearch } from './events-search.ts'
import { NoEvents } from './no-events.tsx'

export function EventsPage() {
  const [search] = useSearchValues(eventsSearch)
  return (
    <EventsOf
      head={
        <PageHead
          title="Events"
          actions={<ApiPopover path="/v2/events" query={{ ...askedEvents(search), limit: MAX_ROWS }} />}
        />
      }
      empty={<NoEvents />}
    />
  )
}
