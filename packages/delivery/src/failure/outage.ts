const FAILURES_UNTIL_REST = 20
const REFUSALS_UNTIL_UNAUTHORISED = 20
const REST_MS = 30_000
const UNAUTHORISED_PROBE_MS = 300_000

export type OutageState = 'ok' | 'resting' | 'unauthorised'

/**
 * What an attempt says about the destination as a whole: it works, it fails (1xx, 5xx, no answer), it refuses us, or its token
 * endpoint does, and then no event can be sent.
 */
export type Sign = 'good' | 'failed' | 'refused' | 'unauthorised'

/**
 * Whether a destination is worth an attempt. In a row, 20 failures open the breaker (`resting`), 20 answers 401 or 403
 * make it `unauthorised`, as does one refusal of its token endpoint; from then on only one probe at a time goes, every 30 s
 * or 5 min, until an answer is good.
 *
 *   ok ─20 failed→ resting ─any answer but 1xx, 5xx→ ok
 *   ok ─20 refused, or 1 unauthorised→ unauthorised ─good answer→ ok
 *
 * @see contracts/delivery.md §2a [D648], §3 [D607, D637], §4 [D611]
 */
export class Outage {
  #state: OutageState = 'ok'
  #failuresInRow = 0
  #refusalsInRow = 0
  #since = 0
  #nextProbe = 0
  #failedProbes = 0

  get state(): OutageState {
    return this.#state
  }

  /** When the attempt that opened it ended, by the monotonic clock. */
  get since(): number {
    return this.#since
  }

  /** The next probe's time by the monotonic clock. */
  get nextProbe(): number {
    return this.#nextProbe
  }

  /** Failed probes since the outage began: they count for every waiting event. */
  get failedProbes(): number {
    return this.#failedProbes
  }

  /** Takes an attempt into account. @returns whether the state changed. */
  note(sign: Sign, isProbe: boolean, now: number): boolean {
    this.#failuresInRow = sign === 'failed' ? this.#failuresInRow + 1 : 0
    this.#refusalsInRow = sign === 'refused' ? this.#refusalsInRow + 1 : 0
    switch (this.#state) {
      case 'ok':
        if (sign === 'unauthorised') return this.#begin('unauthorised', now)
        if (this.#failuresInRow >= FAILURES_UNTIL_REST) return this.#begin('resting', now)
        if (this.#refusalsInRow >= REFUSALS_UNTIL_UNAUTHORISED) return this.#begin('unauthorised', now)
        return false
      case 'resting':
        if (sign === 'unauthorised') return this.#begin('unauthorised', now)
        if (sign !== 'failed') return this.#end()
        break
      case 'unauthorised':
        if (sign === 'good') return this.#end()
        break
    }
    if (isProbe) {
      this.#failedProbes++
      this.#nextProbe = now + this.#restMs()
    }
    return false
  }

  /** What a changed configuration may have mended is tried at once. */
  probeSoon(now: number): void {
    if (this.#state === 'unauthorised') this.#nextProbe = now
  }

  /** Time that does not count, because the destination was switched off. */
  shift(ms: number): void {
    this.#since += ms
  }

  #begin(state: OutageState, now: number): boolean {
    this.#state = state
    this.#since = now
    this.#failedProbes = 0
    this.#nextProbe = now + this.#restMs()
    return true
  }

  #end(): boolean {
    this.#state = 'ok'
    this.#failuresInRow = this.#refusalsInRow = 0
    return true
  }

  #restMs(): number {
    return this.#state === 'unauthorised' ? UNAUTHORISED_PROBE_MS : REST_MS
  }
}
