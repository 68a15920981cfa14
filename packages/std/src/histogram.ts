/** Counts observations by upper bounds, as Prometheus histograms do. */
export class Histogram {
  readonly bounds: readonly number[]
  /** Observations at or below each bound and above the one before; the last count is those above all bounds. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.bounds.length && value > this.bounds[at]!) at++
    this.counts[at]! += 1
    this.sum += value
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}
