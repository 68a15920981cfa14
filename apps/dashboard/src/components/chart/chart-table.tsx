import { Time } from '../time/time.tsx'
import styles from './chart.module.css'
import type { ChartProps } from './chart-series.ts'

/** The values of a chart, newest first; unknown values are omitted. */
export function ChartTable({ label, times, series, text }: ChartProps) {
  const rows = times
    .map((at, index) => ({ at, values: series.map(({ values }) => values[index] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={`${label}, as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, values }) => (
            <tr key={at}>
              <td>
                <Time at={new Date(at).toISOString()} isInRow />
              </td>
              {values.map((value, index) => (
                <td key={series[index]!.label}>{value === null ? '–' : text(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
