import { type Cells, privateCells } from '../limits/cells.ts'

const FAILURES_UNTIL_REST = 20
const REFUSALS_UNTIL_UNAUTHORISED = 20
const REST_MS = 30_000
const UNAUTHORISED_PROBE_MS = 300_000

const STATES = ['ok', 'resting', 'unauthorised'] as const
export type OutageState = (typeof STATES)[number]

const [STATE, FAILURES_IN_ROW, REFUSALS_IN_ROW, FAILED_PROBES] = [0, 1, 2, 3] as const
const [SINCE, NEXT_PROBE] = [0, 1] as const
export const OUTAGE_CELLS = { ints: 4, floats: 2 } as const

/** The outage of a destination at one moment. All times are of the monotonic clock. */
export interface OutageReading {
  readonly state: OutageState
  /** When the attempt that opened it ended. */
  readonly since: number
  readonly nextProbe: number
  /** Failed probes since the outage began: they count for every waiting event. */
  readonly failedProbes: number
}

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
export class Outage implements OutageReading {
  readonly #ints: Int32Array
  readonly #floats: Float64Array

  constructor({ ints, floats }: Cells = privateCells(OUTAGE_CELLS.ints, OUTAGE_CELLS.floats)) {
    this.#ints = ints
    this.#floats = floats
  }

  get state(): OutageState {
    return STATES[Atomics.load(this.#ints, STATE)]!
  }

  get since(): number {
    return this.#floats[SINCE]!
  }

  get nextProbe(): number {
    return this.#floats[NEXT_PROBE]!
  }

  get failedProbes(): number {
    return this.#ints[FAILED_PROBES]!
  }

  /** Takes an attempt into account. @returns whether the state changed. */
  note(sign: Sign, isProbe: boolean, now: number): boolean {
    const failures = sign === 'failed' ? this.#ints[FAILURES_IN_ROW]! + 1 : 0
    const refusals = sign === 'refused' ? this.#ints[REFUSALS_IN_ROW]! + 1 : 0
    this.#ints[FAILURES_IN_ROW] = failures
    this.#ints[REFUSALS_IN_ROW] = refusals
    switch (this.state) {
      case 'ok':
        if (sign === 'unauthorised') return this.#begin('unauthorised', now)
        if (failures >= FAILURES_UNTIL_REST) return this.#begin('resting', now)
        if (refusals >= REFUSALS_UNTIL_UNAUTHORISED) return this.#begin('unauthorised', now)
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
      this.#ints[FAILED_PROBES]!++
      this.#floats[NEXT_PROBE] = now + this.#restMs()
    }
    return false
  }

  /** Takes over the outage as other processes have it. @returns whether the state changed. */
  adopt({ state, since, nextProbe, failedProbes }: OutageReading): boolean {
    const isChanged = state !== this.state
    if (isChanged && state === 'ok') this.#end()
    else if (isChanged && state !== 'ok') {
      this.#begin(state, since)
      this.#ints[FAILURES_IN_ROW] = this.#ints[REFUSALS_IN_ROW] = 0
    }
    this.#ints[FAILED_PROBES] = failedProbes
    this.#floats[NEXT_PROBE] = nextProbe
    return isChanged
  }

  /** What a changed configuration may have mended is tried at once. */
  probeSoon(now: number): void {
    if (this.state === 'unauthorised') this.#floats[NEXT_PROBE] = now
  }

  /** Time that does not count, because the destination was switched off. */
  shift(ms: number): void {
    this.#floats[SINCE]! += ms
  }

  #begin(state: 'resting' | 'unauthorised', now: number): boolean {
    Atomics.store(this.#ints, STATE, STATES.indexOf(state))
    this.#floats[SINCE] = now
    this.#ints[FAILED_PROBES] = 0
    this.#floats[NEXT_PROBE] = now + this.#restMs()
    return true
  }

  #end(): boolean {
    Atomics.store(this.#ints, STATE, STATES.indexOf('ok'))
    this.#ints[FAILURES_IN_ROW] = this.#ints[REFUSALS_IN_ROW] = 0
    return true
  }

  #restMs(): number {
    return this.state === 'unauthorised' ? UNAUTHORISED_PROBE_MS : REST_MS
  }
}
