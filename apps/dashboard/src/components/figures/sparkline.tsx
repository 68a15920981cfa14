import styles from './figures.module.css'
import { sparkPath } from './spark-path.ts'

interface SparklineProps {
  readonly values: readonly (number | null)[]
  /** Label for screen readers. */
  readonly label: string
  readonly width?: number
  readonly height?: number
}

/** A rate over time, small enough for a row. */
export function Sparkline({ values, label, width = 80, height = 18 }: SparklineProps) {
  return (
    <svg className={styles.spark} role="img" aria-label={label} width={width} height={height}>
      <path
        d={sparkPath(values, width - 1, height - 3)}
        transform="translate(0.5 1.5)"
        fill="none"
        stroke="var(--line)"
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
    </svg>
  )
}
