import { grouped } from '@millrace/wording'
import { Link } from '@tanstack/react-router'
import { ShareBar } from '../../../components/figures/share-bar.tsx'
import { firstLine } from '../../../components/json/shown-text.ts'
import styles from '../destinations.module.css'
import type { OverviewFigures } from './overview-figures.ts'

interface FunnelProps {
  readonly figures: OverviewFigures
  /** Right now, whenever they came. */
  readonly waiting: number
  readonly destinationId: string
}

/** What the destination received, and what became of it; reasons lead to the events. */
export function Funnel({ figures: { sums, reasons }, waiting, destinationId }: FunnelProps) {
  const taken = sums.delivered + sums.filtered + sums.dropped + sums.deadLettered + waiting
  const steps = [
    { label: 'Received', count: taken, outcome: undefined, tone: 'plain' },
    { label: 'Filtered', count: sums.filtered, outcome: 'filtered', tone: 'plain' },
    { label: 'Dropped', count: sums.dropped, outcome: 'dropped_by_transformation', tone: 'plain' },
    { label: 'Dead', count: sums.deadLettered, outcome: 'dead_lettered', tone: 'bad' },
    { label: 'Waiting now', count: waiting, outcome: undefined, tone: 'warn' },
    { label: 'Delivered', count: sums.delivered, outcome: undefined, tone: 'plain' },
  ] as const
  return (
    <dl className={styles.funnel}>
      {steps.map(({ label, count, outcome, tone }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <ShareBar share={taken === 0 ? 0 : count / taken} text={grouped(count)} tone={tone} />
          </dd>
          <dd>
            {outcome !== undefined && (
              <Reasons outcome={outcome} reasons={reasons.get(outcome) ?? []} destinationId={destinationId} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface ReasonsProps {
  readonly outcome: string
  readonly reasons: readonly { readonly reason: string; readonly count: number }[]
  readonly destinationId: string
}

function Reasons({ outcome, reasons, destinationId }: ReasonsProps) {
  const isDead = outcome === 'dead_lettered'
  const to = isDead ? '/dead-letters' : '/events'
  return (
    <ul className={styles.reasons}>
      {reasons.map(({ reason, count }) => {
        const text = `${grouped(count)} ${firstLine(reason)}`
        const search = isDead ? { destinationId, reason } : { destination: destinationId, outcome }
        return (
          <li key={reason}>
            <Link to={to} search={search as never}>
              {text}
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
