export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** @param share 0 to 1; between two values the nearer one counts. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) throw new Error('no values to take a quantile of')
  return sorted[Math.round(share * (sorted.length - 1))]!
}

/** How far the middle half of the values reaches. */
export function middleHalf(values: readonly number[]): readonly [number, number] {
  return [quantile(values, 0.25), quantile(values, 0.75)]
}
