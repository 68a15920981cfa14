/** Each series on top of those before it, as bars are drawn; null only where nothing is known. */
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
