import type { Transformation } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import type { Code } from '../../api/code.ts'
import { useDestinations } from '../../api/destinations.ts'
import { useStats } from '../../api/stats.ts'
import { Chart } from '../../components/chart/chart.tsx'
import { stepTimes } from '../../components/chart/chart-series.ts'
import { shortNumber } from '../../components/figures/figure-text.ts'
import { OnOffMark } from '../../components/state-mark.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import type { CodeTabProps } from './code-kind.ts'
import { DeleteCode } from './delete-code.tsx'
import styles from './transformations.module.css'

const HOUR_S = 3_600
const STEP_S = 10
const POLL_MS = 10_000

/** The destinations that use it, with its runs, failures and durations in the last hour. */
export function UsageTab({ kind, code }: CodeTabProps) {
  const { id, destinations } = code as Code as Transformation
  const stats = useStats({ seconds: HOUR_S, step: STEP_S, transformationId: id }, { pollMs: POLL_MS })
  return (
    <div className={styles.usage}>
      <section aria-label="Destinations">
        <h2>Destinations</h2>
        <Shown of={useDestinations()}>
          {(all) => {
            const users = all.filter((destination) => destinations.includes(destination.id))
            if (users.length === 0) return <Empty text="No destination uses it. Attach it to one." />
            return (
              <ul className={styles.links}>
                {users.map((destination) => (
                  <li key={destination.id}>
                    <Link to={`/destinations/${destination.id}/transformations` as string}>{destination.name}</Link>
                    <OnOffMark isOn={destination.enabled} />
                  </li>
                ))}
              </ul>
            )
          }}
        </Shown>
      </section>
      <Shown of={stats}>
        {({ to, stepSeconds, transformations }) => {
          const own = transformations.find((each) => each.id === id)
          if (own === undefined) return <p className={styles.dim}>No runs in the last hour.</p>
          const times = stepTimes(to, stepSeconds, own.in.length)
          return (
            <>
              <Chart
                label={`Events per ${STEP_S} s, last hour`}
                times={times}
                series={[
                  { label: 'in', values: own.in, tone: 'idle' },
                  { label: 'out', values: own.out, tone: 'accent' },
                  { label: 'errors', values: own.errors, tone: 'bad' },
                ]}
                text={shortNumber}
              />
              <Chart
                label="Time of a run, last hour"
                times={times}
                series={[{ label: 'p95', values: own.p95Ms, tone: 'accent' }]}
                text={(value) => `${shortNumber(value)} ms`}
              />
            </>
          )
        }}
      </Shown>
      <DeleteCode kind={kind} code={code} />
    </div>
  )
}
