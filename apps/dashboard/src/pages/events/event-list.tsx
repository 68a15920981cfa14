import { Button } from '@mantine/core'
import type { ListedEvent } from '@millrace/api-types'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useDestinations } from '../../api/destinations.ts'
import { namesOf } from '../../api/names.ts'
import { useSources } from '../../api/sources.ts'
import { EmptyByFilter } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { localTime } from '../../components/time/time-text.ts'
import { type KeyBinding, useKeys } from '../../shell/keys/keys.ts'
import { type SetSearch, useSearchValues } from '../../shell/search-values.ts'
import { eventTexts } from '../../texts.ts'
import { type EventColumn, eventColumns } from './event-columns.tsx'
import { cleared, EventFilters } from './event-filters.tsx'
import styles from './events.module.css'
import { type AskedEvents, askedEvents, eventsSearch, FILTER_NAMES } from './events-search.ts'
import { eventRowId } from './live-events.ts'
import { LiveSwitch } from './live-switch.tsx'
import { type EventStream, useEventStream } from './use-event-stream.ts'

/** If the user has scrolled further than this, new rows wait instead of moving the list. */
const SCROLLED_PX = 80

interface EventListProps {
  /** Filters that the page fixes: its source or destination. */
  readonly fixed?: { readonly source?: string; readonly destination?: string }
  /** Shown if there is no event at all. */
  readonly empty: ReactNode
}

/** Past and new events with their outcomes; the link holds the state of the view. */
export function EventList({ fixed, empty }: EventListProps) {
  const [search, set] = useSearchValues(eventsSearch)
  const asked = useMemo(() => askedEvents({ ...search, ...fixed }), [search, fixed])
  const names = FILTER_NAMES.filter((name) => !Object.hasOwn(fixed ?? {}, name))
  const isPaused = search.live === 'off'
  const isScrolled = useIsScrolled()
  const stream = useEventStream(asked, { isLive: !isEnded(asked), isHeld: isPaused || isScrolled })
  const { waiting, release } = stream
  useEffect(() => {
    if (!isPaused && !isScrolled && waiting > 0) release()
  }, [isPaused, isScrolled, waiting, release])
  usePauseKey(isPaused, set)
  const isFiltered = names.some((name) => search[name] !== undefined)
  const showNew = () => {
    set({ live: undefined })
    release()
    window.scrollTo({ top: 0 })
  }

  return (
    <>
      <div className={styles.bar}>
        <EventFilters search={search} set={set} names={names} />
        {!isEnded(asked) && (
          <LiveSwitch
            tail={stream.tail}
            isPaused={isPaused}
            onChange={() => set({ live: isPaused ? undefined : 'off' })}
          />
        )}
      </div>
      <Notices stream={stream} />
      <Shown of={stream.reading}>
        {() => {
          if (stream.rows.length === 0 && !stream.hasMore && waiting === 0) {
            return isFiltered ? <EmptyByFilter onClear={() => set(cleared(names))} /> : empty
          }
          return (
            <>
              {waiting > 0 && (
                <div className={styles.new}>
                  <Button className={styles.newButton} onClick={showNew}>
                    {eventTexts.newRows(waiting)}
                  </Button>
                </div>
              )}
              <Rows
                stream={stream}
                current={search.event}
                hidden={[...hiddenColumns(fixed), ...(search.event === undefined ? [] : (['source', 'user'] as const))]}
                onOpen={({ messageId }) => set({ event: messageId }, 'push')}
              />
              <LookedBack stream={stream} />
            </>
          )
        }}
      </Shown>
    </>
  )
}

interface RowsProps {
  readonly stream: EventStream
  readonly current: string | undefined
  readonly hidden: readonly EventColumn[]
  readonly onOpen: (event: ListedEvent) => void
}

function Rows({ stream: { reading, rows, hasMore, hasLookedBack, loadMore }, current, hidden, onOpen }: RowsProps) {
  const sources = useSources().data
  const destinations = useDestinations().data
  const hiddenText = hidden.join()
  const columns = useMemo(() => {
    const names = { sourceName: namesOf(sources), destinationName: namesOf(destinations) }
    return eventColumns(names, hiddenText.split(',') as EventColumn[])
  }, [sources, destinations, hiddenText])
  const open = useRef(onOpen)
  open.current = onOpen
  const openRow = useCallback((event: ListedEvent) => open.current(event), [])
  const currentRow = current === undefined ? undefined : rows.find(({ messageId }) => messageId === current)
  return (
    <DataTable
      label="Events"
      columns={columns}
      rows={rows}
      rowId={eventRowId}
      rowName={rowName}
      copied={messageIdOf}
      onOpen={openRow}
      currentId={currentRow && eventRowId(currentRow)}
      total={hasMore ? null : rows.length}
      {...(hasMore && !hasLookedBack && reading.error === null ? { onNearEnd: loadMore } : {})}
    />
  )
}

/** Why new events may be missing. */
function Notices({ stream: { tail, skipped } }: { readonly stream: EventStream }) {
  const texts = [
    ...(tail === 'full' ? [eventTexts.tailFull] : []),
    ...(skipped > 0 ? [eventTexts.skipped(skipped)] : []),
  ]
  return (
    <div role="status">
      {texts.map((text) => (
        <p key={text} className={styles.notice}>
          {text}
        </p>
      ))}
    </div>
  )
}

/** One call searches for a second at most; the user decides whether to continue. */
function LookedBack({ stream }: { readonly stream: EventStream }) {
  const { hasLookedBack, lookedBackTo, isLoadingMore, loadMore } = stream
  if (isLoadingMore) return <p className={styles.more}>…</p>
  if (!hasLookedBack || lookedBackTo === undefined) return null
  return (
    <div className={styles.more}>
      <Button variant="default" onClick={loadMore}>
        {eventTexts.lookedBack(localTime(new Date(lookedBackTo), new Date(), 'second'))}
      </Button>
    </div>
  )
}

function usePauseKey(isPaused: boolean, set: SetSearch<typeof eventsSearch>): void {
  const toggle = useRef(() => {})
  toggle.current = () => set({ live: isPaused ? undefined : 'off' })
  useKeys(useMemo<KeyBinding[]>(() => [{ keys: ' ', text: 'Pause new events', run: () => toggle.current() }], []))
}

function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(() => window.scrollY > SCROLLED_PX)
  useEffect(() => {
    const onScroll = () => setScrolled(window.scrollY > SCROLLED_PX)
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => window.removeEventListener('scroll', onScroll)
  }, [])
  return isScrolled
}

/** No new events enter a range that has ended. */
function isEnded({ to }: AskedEvents): boolean {
  return to !== undefined && Date.parse(to) < Date.now()
}

function hiddenColumns(fixed: EventListProps['fixed']): readonly EventColumn[] {
  return fixed?.source === undefined ? [] : ['source']
}

const messageIdOf = ({ messageId }: ListedEvent) => messageId
const rowName = ({ type, name, messageId }: ListedEvent) => `${type} ${name ?? ''} ${messageId}`
