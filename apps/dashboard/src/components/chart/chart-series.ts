/** One line or bar series of a chart. */
export interface ChartSeries {
  readonly label: string
  /** One value per time; null if unknown. */
  readonly values: readonly (number | null)[]
  readonly tone: 'accent' | 'ok' | 'warn' | 'bad' | 'idle'
  /** Bars are stacked in the order of the series. */
  readonly kind?: 'line' | 'bars'
}

export interface ChartProps {
  /** The title: `Events of this source`. */
  readonly label: string
  /** Times of the values, milliseconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  /** Formats a value, with its unit. */
  readonly text: (value: number) => string
  /** Pixels. */
  readonly height?: number
}

/** The times of consecutive steps that end at `to`. */
export function stepTimes(to: string, stepSeconds: number, count: number): number[] {
  const end = Date.parse(to)
  return Array.from({ length: count }, (_, at) => end - (count - 1 - at) * stepSeconds * 1000)
}
