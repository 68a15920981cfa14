import { grouped } from '@millrace/wording'
import { Chart } from '../../../components/chart/chart.tsx'
import { shortNumber } from '../../../components/figures/figure-text.ts'
import styles from '../destinations.module.css'
import type { OverviewFigures } from './overview-figures.ts'

export function OverviewCharts({ figures: { times, counts, gauges } }: { readonly figures: OverviewFigures }) {
  return (
    <div className={styles.charts}>
      <Chart
        label="Outcomes"
        times={times}
        series={[
          { label: 'delivered', values: counts.delivered, tone: 'ok', kind: 'bars' },
          { label: 'filtered', values: counts.filtered, tone: 'idle', kind: 'bars' },
          { label: 'dropped', values: counts.dropped, tone: 'warn', kind: 'bars' },
          { label: 'dead', values: counts.deadLettered, tone: 'bad', kind: 'bars' },
        ]}
        text={eventsText}
      />
      <Chart
        label="Latency"
        times={times}
        series={[
          { label: 'p50', values: gauges.p50Ms, tone: 'ok' },
          { label: 'p95', values: gauges.p95Ms, tone: 'accent' },
          { label: 'p99', values: gauges.p99Ms, tone: 'warn' },
        ]}
        text={(value) => `${grouped(Math.round(value))} ms`}
      />
      <Chart
        label="Waiting"
        times={times}
        series={[{ label: 'waiting', values: gauges.waiting, tone: 'accent' }]}
        text={eventsText}
      />
    </div>
  )
}

function eventsText(count: number): string {
  return `${shortNumber(count)} ${count === 1 ? 'event' : 'events'}`
}
