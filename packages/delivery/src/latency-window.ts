const MOST = 1_000

/** How long the last 1,000 calls took. */
export class LatencyWindow {
  readonly #durations = new Float64Array(MOST)
  #count = 0

  add(durationMs: number): void {
    this.#durations[this.#count++ % MOST] = durationMs
  }

  percentiles(): { p50: number | null; p95: number | null; p99: number | null } {
    const known = this.#durations.slice(0, Math.min(this.#count, MOST)).sort()
    const at = (part: number) => (known.length === 0 ? null : Math.round(known[Math.floor((known.length - 1) * part)]!))
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }
}
