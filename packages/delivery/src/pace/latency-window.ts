import { DURATION_BUCKETS, type DurationCounts, durationBucket, type Percentiles } from './duration-counts.ts'

const MOST = 1_000

/** How long calls took: each of the last 1,000, and all of them by bucket. */
export class LatencyWindow {
  readonly #durations = new Float64Array(MOST)
  readonly #counts: number[] = Array(DURATION_BUCKETS).fill(0)
  #count = 0

  add(durationMs: number): void {
    this.#durations[this.#count++ % MOST] = durationMs
    this.#counts[durationBucket(durationMs)]!++
  }

  /** Durations of the last 1,000 calls, in no order. */
  recent(): Float64Array {
    return this.#durations.slice(0, Math.min(this.#count, MOST))
  }

  /** All calls. */
  total(): DurationCounts {
    return this.#counts.slice()
  }
}

/** Of recent calls, as `LatencyWindow.recent` gives them; null if there were none. */
export function recentPercentiles(parts: readonly Float64Array[]): Percentiles {
  const known = Float64Array.from(parts.flatMap((part) => [...part])).sort()
  const at = (part: number) => (known.length === 0 ? null : Math.round(known[Math.floor((known.length - 1) * part)]!))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
