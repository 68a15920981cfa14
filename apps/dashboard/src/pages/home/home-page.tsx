import { Button } from '@mantine/core'
import { grouped } from '@millrace/wording'
import { useConnections } from '../../api/connections.ts'
import { useDeliveryStates, useDestinations, waitingOf } from '../../api/destinations.ts'
import { serverNow } from '../../api/requests/server-clock.ts'
import { useSources } from '../../api/sources.ts'
import { useStats } from '../../api/stats.ts'
import { useTransformations } from '../../api/transformations.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { Choice } from '../../components/choice.tsx'
import { Figure, Figures } from '../../components/figures/figure.tsx'
import { rateText, shortNumber } from '../../components/figures/figure-text.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { together } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { Stale } from '../../components/states/stale.tsx'
import { useAfterFrame } from '../../components/use-after-frame.ts'
import { useIsNarrow } from '../../components/use-is-narrow.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { homeTexts } from '../../texts.ts'
import { RECENT } from './ask-for-home.ts'
import { type FlowData, flowOf, totalRates } from './flow.ts'
import { FlowPicture } from './flow-picture.tsx'
import { FlowTable } from './flow-table.tsx'
import styles from './home.module.css'
import { homeSearch } from './home-search.ts'
import { LaneList } from './lane-list.tsx'
import { NeedsYou } from './needs-you.tsx'
import { OnlySamples } from './only-samples.tsx'
import { useCourses } from './use-courses.ts'

const POLL_MS = 5_000
const DELIVERIES_POLL_MS = 10_000
const RANGES = [
  { value: '1h', text: '1 h' },
  { value: '24h', text: '24 h' },
] as const

/** Shows whether everything works and, if not, what needs attention. */
export function HomePage() {
  const [{ range = '1h', focus }, setSearch] = useSearchValues(homeSearch)
  const reading = together({
    sources: useSources(),
    destinations: useDestinations(),
    connections: useConnections(),
    transformations: useTransformations(),
  })
  const stats = useStats(RECENT, { pollMs: POLL_MS })
  const deliveries = useDeliveryStates({ pollMs: DELIVERIES_POLL_MS })
  const { courses, totals } = useCourses(
    range,
    reading.data && reading.data.sources.length + reading.data.destinations.length,
  )

  return (
    <>
      <PageHead
        title="Home"
        actions={
          <>
            <Choice
              label="Time range of totals and sparklines"
              options={RANGES}
              value={range}
              onChange={(value) => setSearch({ range: value === '24h' ? '24h' : undefined })}
            />
            <ApiPopover path="/v2/stats" query={{ step: 10 }} />
          </>
        }
      />
      <Shown of={reading}>
        {(lists) =>
          lists.sources.length === 0 ? (
            <NoSource />
          ) : (
            <Content
              data={{ ...lists, stats: stats.data, deliveries: deliveries.data ?? [], now: serverNow() }}
              notice={stats.error !== null || (deliveries.error === null && stats.isFetching) ? stats : deliveries}
              courses={courses}
              totals={totals}
              range={range}
              focus={focus}
              onFocus={(id) => setSearch({ focus: id }, 'push')}
            />
          )
        }
      </Shown>
    </>
  )
}

interface ContentProps {
  readonly data: FlowData
  /** The figures that are polled. */
  readonly notice: Parameters<typeof Stale>[0]['of']
  readonly courses: ReadonlyMap<string, readonly (number | null)[]>
  readonly totals: { readonly accepted: number; readonly delivered: number } | undefined
  readonly range: '1h' | '24h'
  readonly focus: string | undefined
  readonly onFocus: (id: string | undefined) => void
}

function Content({ data, notice, courses, totals, range, focus, onFocus }: ContentProps) {
  const isNarrow = useIsNarrow()
  const isDrawn = useAfterFrame()
  const flow = flowOf(data, focus)
  const { accepted, delivered } = totalRates(data)
  const span = range === '24h' ? '24 h' : '1 h'
  const isKnown = data.deliveries.length > 0 || data.destinations.length === 0
  const waiting = data.deliveries.reduce((sum, delivery) => sum + waitingOf(delivery), 0)
  const dead = data.deliveries.reduce((sum, { deadLettersOpen }) => sum + deadLettersOpen, 0)
  const focused = [...flow.sources, ...flow.destinations].find(({ id }) => id === focus)
  return (
    <>
      {notice.data !== undefined && <Stale of={notice} />}
      <OnlySamples sources={data.sources} />
      <Figures>
        <Figure
          label={`Accepted in ${span}`}
          value={totalText(totals?.accepted)}
          meta={rateNow(accepted)}
          to="/events"
        />
        <Figure
          label={`Delivered in ${span}`}
          value={totalText(totals?.delivered)}
          meta={rateNow(delivered)}
          to="/destinations"
        />
        <Figure label="Waiting" value={isKnown ? shortNumber(waiting) : '–'} to="/destinations" />
        <Figure
          label="Dead"
          value={isKnown ? shortNumber(dead) : '–'}
          tone={dead > 0 ? 'bad' : 'plain'}
          to="/dead-letters"
        />
      </Figures>
      <div className={styles.columns}>
        <section className={styles.flow} aria-label="Flow of events">
          {focus !== undefined && (
            <div className={styles.focused}>
              <span>
                Only <b>{focused?.name ?? focus}</b> and its connections.
              </span>
              <Button variant="default" onClick={() => onFocus(undefined)}>
                Show all
              </Button>
            </div>
          )}
          {isNarrow ? (
            <LaneList flow={flow} courses={courses} />
          ) : (
            <FlowPicture flow={flow} courses={courses} focus={focus} onFocus={onFocus} />
          )}
          {isDrawn && <FlowTable flow={flow} />}
        </section>
        <NeedsYou data={data} dead={dead} />
      </div>
    </>
  )
}

const totalText = (total: number | undefined) => (total === undefined ? '–' : grouped(total))
const rateNow = (rate: number | null) => (rate === null ? undefined : `${rateText(rate)} now`)

function NoSource() {
  return (
    <Empty text={homeTexts.noSource}>
      <NeedsRole role="editor">
        <LinkButton to="/sources/new">New source</LinkButton>
      </NeedsRole>
    </Empty>
  )
}
