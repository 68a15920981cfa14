/** One course of a chart. */
export interface ChartSeries {
  readonly label: string
  /** One value per time; null where it is not known. */
  readonly values: readonly (number | null)[]
  readonly tone: 'accent' | 'ok' | 'warn' | 'bad' | 'idle'
  /** Bars are stacked in the order of the series. */
  readonly kind?: 'line' | 'bars'
}

export interface ChartProps {
  /** What it shows: `Events of this source`. */
  readonly label: string
  /** Of each value, milliseconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  /** How a value is written, with its unit. */
  readonly text: (value: number) => string
  /** Pixels. */
  readonly height?: number
}

/** The times of a row of steps that ends at `to`. */
export function stepTimes(to: string, stepSeconds: number, count: number): number[] {
  const end = Date.parse(to)
  return Array.from({ length: count }, (_, at) => end - (count - 1 - at) * stepSeconds * 1000)
}
