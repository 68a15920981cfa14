import type { Failing } from '../lane/attempts/wait-cause.ts'
import type { LastFailure } from './destination-limits.ts'
import type { Failures } from './failures.ts'

const TEXT_BYTES = 2_048
/** Both integers are 0 while there is none: status + 1 (1: no answer), and the bytes of its text + 1 (0: null). */
const [LAST_STATUS, LAST_BYTES, FAILING_STATUS, FAILING_BYTES] = [0, 1, 2, 3] as const
const [SINCE] = [0] as const
export const FAILURES_CELLS = { ints: 4, floats: 1, bytes: 2 * TEXT_BYTES } as const

/** Failures in memory that threads share. Of a text, the first 2 KB are kept. */
export class SharedFailures implements Failures {
  readonly #ints: Int32Array
  readonly #floats: Float64Array
  readonly #texts: [Uint8Array, Uint8Array]

  constructor({ ints, floats, bytes }: { ints: Int32Array; floats: Float64Array; bytes: Uint8Array }) {
    this.#ints = ints
    this.#floats = floats
    this.#texts = [bytes.subarray(0, TEXT_BYTES), bytes.subarray(TEXT_BYTES)]
  }

  get last(): LastFailure | undefined {
    const status = this.#ints[LAST_STATUS]!
    return status === 0 ? undefined : { status: status - 1, text: this.#text(0, LAST_BYTES) ?? '' }
  }

  set last(failure: LastFailure | undefined) {
    this.#ints[LAST_STATUS] = failure === undefined ? 0 : failure.status + 1
    this.#setText(0, LAST_BYTES, failure?.text ?? null)
  }

  get failing(): Failing | undefined {
    const status = this.#ints[FAILING_STATUS]!
    if (status === 0) return undefined
    const last = { status: status === 1 ? null : status - 1, noAnswer: this.#text(1, FAILING_BYTES) }
    return { since: this.#floats[SINCE]!, last }
  }

  set failing(failing: Failing | undefined) {
    this.#ints[FAILING_STATUS] = failing === undefined ? 0 : (failing.last.status ?? 0) + 1
    this.#setText(1, FAILING_BYTES, failing?.last.noAnswer ?? null)
    if (failing !== undefined) this.#floats[SINCE] = failing.since
  }

  #text(which: 0 | 1, at: number): string | null {
    const bytes = this.#ints[at]!
    // A decoder refuses shared memory.
    return bytes === 0 ? null : Buffer.from(this.#texts[which].slice(0, bytes - 1)).toString()
  }

  #setText(which: 0 | 1, at: number, text: string | null): void {
    if (text === null) {
      this.#ints[at] = 0
      return
    }
    // It writes whole characters only.
    const { written } = encoder.encodeInto(text, scratch)
    this.#texts[which].set(scratch.subarray(0, written))
    this.#ints[at] = written + 1
  }
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(TEXT_BYTES)
