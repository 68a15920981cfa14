import { DURATION_BUCKETS, type DurationCounts, durationBucket, type Percentiles } from './duration-counts.ts'

const MOST = 1_000

/** How long calls took: each of the last 1,000, and all of them by bucket. */
export class LatencyWindow {
  readonly #durations = new Float64Array(MOST)
  readonly #counts = new Float64Array(DURATION_BUCKETS)
  #count = 0

  add(durationMs: number): void {
    this.#durations[this.#count++ % MOST] = durationMs
    this.#counts[durationBucket(durationMs)]!++
  }

  /** Of the last 1,000 calls; null if there were none. */
  percentiles(): Percentiles {
    const known = this.#durations.slice(0, Math.min(this.#count, MOST)).sort()
    const at = (part: number) => (known.length === 0 ? null : Math.round(known[Math.floor((known.length - 1) * part)]!))
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }

  /** All calls since an earlier moment. @param earlier what `total` returned then. */
  countsSince(earlier: Float64Array | undefined): DurationCounts {
    const counts = Array.from(this.#counts, (count, bucket) => count - (earlier?.[bucket] ?? 0))
    return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1)
  }

  /** A copy of the counts of all calls. */
  total(): Float64Array {
    return this.#counts.slice()
  }
}
