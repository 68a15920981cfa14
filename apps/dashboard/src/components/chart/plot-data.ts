/** Stacks each series on the previous ones, for bars; null only for unknown values. */
export function stacked(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums: (number | null)[] = []
  return series.map((values) =>
    values.map((value, at) => {
      const below = sums[at] ?? null
      sums[at] = value === null && below === null ? null : (value ?? 0) + (below ?? 0)
      return sums[at]
    }),
  )
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A label under the chart: `23:05`, and the date at midnight, in the reader's time zone. */
export function axisText(at: Date): string {
  const [hours, minutes] = [at.getHours(), at.getMinutes()]
  if (hours === 0 && minutes === 0) return `${at.getDate()} ${MONTHS[at.getMonth()]}`
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
}
