import { Link } from '@tanstack/react-router'
import { useDeadLetterGroups } from '../../api/dead-letters.ts'
import { useAdminInfo, useHealth } from '../../api/health.ts'
import { useCatalogStatus } from '../../api/schemas.ts'
import { useStoredEvents } from '../../api/stored-events.ts'
import { shownText } from '../../components/json/shown-text.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { homeTexts } from '../../texts.ts'
import { destinationNodes, type FlowData, sourceNodes } from './flow.ts'
import styles from './home.module.css'
import { needsOf } from './needs.ts'

const POLL_MS = 120_000

interface NeedsYouProps {
  readonly data: FlowData
  /** Open dead letters of all destinations. */
  readonly dead: number
}

/** Beside the picture: problems that need attention, with links. */
export function NeedsYou({ data, dead }: NeedsYouProps) {
  const { data: groups = [] } = useDeadLetterGroups({}, { isEnabled: dead > 0, pollMs: POLL_MS })
  const sources = sourceNodes(data)
  const loose = sources.filter(({ state }) => state.word === homeTexts.unconnected).map(({ id }) => id)
  const stored = useStoredEvents(
    data.sources.filter(({ id }) => loose.includes(id)),
    POLL_MS,
  )
  const needs = needsOf({
    sources,
    destinations: destinationNodes(data),
    groups: dead > 0 ? groups : [],
    health: useHealth().data,
    catalog: useCatalogStatus({ pollMs: POLL_MS }).data,
    sourceList: data.sources,
    stored,
    now: data.now,
    info: useAdminInfo({ pollMs: POLL_MS }).data,
  })
  return (
    <aside className={styles.needs} aria-labelledby="needs-you">
      <h2 id="needs-you">{homeTexts.needsYou}</h2>
      {needs.length === 0 ? (
        <p className={styles.none}>{homeTexts.nothingNeedsYou}</p>
      ) : (
        <ul>
          {needs.map(({ key, kind, about, text, to, search }) => (
            <li key={key}>
              <Link to={to} search={search as never} className={styles.need}>
                <span className={styles.needAbout}>{shownText(about)}</span>
                <StateMark kind={kind}>{shownText(text)}</StateMark>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </aside>
  )
}
