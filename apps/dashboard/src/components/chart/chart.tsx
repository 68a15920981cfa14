import { Skeleton, Switch } from '@mantine/core'
import { Suspense, useState } from 'react'
import { commonTexts } from '../../texts.ts'
import { lazyPart } from '../lazy-part.ts'
import { PanelBoundary } from '../states/panel-boundary.tsx'
import { localTime } from '../time/time-text.ts'
import styles from './chart.module.css'
import type { ChartProps } from './chart-series.ts'
import { ChartTable } from './chart-table.tsx'

const Plot = lazyPart(() => import('./plot.tsx').then(({ Plot }) => ({ default: Plot })))

/** A chart over time, from zero, with gaps; also available as a table. Its library is loaded for the first chart. */
export function Chart(props: ChartProps) {
  const { label, series, height = 160 } = props
  const [isTable, setTable] = useState(false)
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <span className={styles.label}>{label}</span>
        <span className={styles.legend}>
          {series.map(({ label, tone, kind = 'line' }) => (
            <span key={label} className={styles.series} data-tone={tone} data-kind={kind}>
              {label}
            </span>
          ))}
        </span>
        <Switch
          size="xs"
          label={commonTexts.table}
          aria-label={`${commonTexts.table}: ${label}`}
          checked={isTable}
          onChange={({ currentTarget }) => setTable(currentTarget.checked)}
        />
      </figcaption>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <PanelBoundary>
          <Suspense fallback={<Skeleton height={height} />}>
            <Plot {...props} height={height} timeText={timeText} />
          </Suspense>
        </PanelBoundary>
      )}
    </figure>
  )
}

function timeText(at: number): string {
  return localTime(new Date(at), new Date(), 'second')
}
