const MOST = 1_000

export interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** How long the last 1,000 calls took. */
export class LatencyWindow {
  readonly #durations = new Float64Array(MOST)
  #count = 0

  /** Calls ever. */
  get count(): number {
    return this.#count
  }

  add(durationMs: number): void {
    this.#durations[this.#count++ % MOST] = durationMs
  }

  /** @param since only of calls after so many; null where there were none. */
  percentiles(since = 0): Percentiles {
    const taken = Math.min(this.#count - since, MOST)
    const first = this.#count - taken
    const known = Float64Array.from({ length: taken }, (_, i) => this.#durations[(first + i) % MOST]!).sort()
    const at = (part: number) => (known.length === 0 ? null : Math.round(known[Math.floor((known.length - 1) * part)]!))
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }
}
