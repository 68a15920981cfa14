import type { Series } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { rateText } from '../../components/figures/figure-text.ts'
import { Sparkline } from '../../components/figures/sparkline.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { homeTexts } from '../../texts.ts'
import { Chain } from './chain.tsx'
import type { Flow, FlowNode } from './flow.ts'
import styles from './home.module.css'

interface LaneListProps {
  readonly flow: Flow
  readonly courses: ReadonlyMap<string, Series>
}

/** The picture below 900 px: a lane per destination with its sources, and the unconnected sources. */
export function LaneList({ flow, courses }: LaneListProps) {
  const connected = new Set(flow.lines.map(({ sourceId }) => sourceId))
  const loose = flow.sources.filter(({ id }) => !connected.has(id))
  return (
    <>
      <ul className={styles.lanes}>
        {flow.destinations.map((destination) => (
          <li key={destination.id} className={styles.laneCard}>
            <p className={styles.laneSources}>
              {sourcesOf(flow, destination.id).map(({ id, name }) => (
                <Link key={id} to={`/sources/${id}/setup`}>
                  {shownText(name)}
                </Link>
              ))}
              {sourcesOf(flow, destination.id).length === 0 && <span>No source</span>}
            </p>
            {destination.chain.length > 0 && <Chain chain={destination.chain} />}
            <LaneNode
              node={destination}
              to={`/destinations/${destination.id}/overview`}
              course={courses.get(destination.id)}
            />
          </li>
        ))}
        {loose.map((source) => (
          <li key={source.id} className={styles.laneCard}>
            <LaneNode node={source} to={`/sources/${source.id}/connections`} course={courses.get(source.id)} />
          </li>
        ))}
      </ul>
      {flow.moreDestinations > 0 && (
        <Link to="/destinations" className={styles.more}>
          {homeTexts.andMore(flow.moreDestinations)}
        </Link>
      )}
    </>
  )
}

interface LaneNodeProps {
  readonly node: FlowNode
  readonly to: string
  readonly course: Series | undefined
}

function LaneNode({ node: { name, state, rate }, to, course }: LaneNodeProps) {
  return (
    <>
      <div className={styles.nodeLine}>
        <Link to={to} className={styles.nodeName}>
          {shownText(name)}
        </Link>
        <span className={styles.rate}>{rateText(rate)}</span>
      </div>
      <div className={styles.nodeLine}>
        <StateMark kind={state.kind}>{state.word}</StateMark>
        {course !== undefined && <Sparkline values={course} label={`Course of ${shownText(name)}`} />}
      </div>
    </>
  )
}

function sourcesOf({ lines, sources }: Flow, destinationId: string): FlowNode[] {
  const ids = new Set(lines.filter((line) => line.destinationId === destinationId).map(({ sourceId }) => sourceId))
  return sources.filter(({ id }) => ids.has(id))
}
