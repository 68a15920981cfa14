import type { AnswerClass } from '@millrace/protocol'
import type { DeliveryHistory, Failed } from '../lane/delivery-history.ts'
import { type Failing, noAnswerText } from '../lane/wait-cause.ts'
import type { ConcurrencyLevel } from '../pace/concurrency-level.ts'
import { type Ended, isOverload, signOf } from './classify.ts'
import { Outage } from './outage.ts'

export interface TroubleOptions {
  readonly destinationId: string
  /** Goes down when the destination is overloaded. */
  readonly level: ConcurrencyLevel
  /** The outage began or ended. */
  readonly onChange: () => void
  readonly logger: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
}

/** What attempts say of a destination as a whole: whether it gets events or probes, and what it does instead of taking them. */
export class Trouble {
  readonly outage = new Outage()
  /** Whether the attempt under way is a probe. */
  isProbing = false
  readonly #options: TroubleOptions
  #lastFailure: { readonly status: number; readonly text: string } | undefined
  #failing: Failing | undefined

  constructor(options: TroubleOptions) {
    this.#options = options
  }

  /** What the last failed attempt said, for people. */
  get lastFailure(): { readonly status: number; readonly text: string } | undefined {
    return this.#lastFailure
  }

  /** What the destination has done since its last good answer. */
  get failing(): Failing | undefined {
    return this.#failing
  }

  /**
   * An attempt ended; it is the end of a probe, if it was one.
   *
   * @param isReplay what is replayed may be what no destination bears: it begins no outage.
   * @param now monotonic.
   */
  note(result: Ended, answerClass: AnswerClass, isReplay: boolean, now: number): void {
    const { destinationId, level, logger, onChange } = this.#options
    const { outage } = this
    const wasProbe = this.isProbing
    this.isProbing = false
    const isDelivered = answerClass === 'delivered'
    if (isDelivered) this.#failing = undefined
    if (result.kind === 'refused') return
    if (!isDelivered && isOverload(result)) level.overloaded(now - result.durationMs, now)
    if (isReplay && outage.state === 'ok') return
    if (!outage.note(isDelivered ? 'good' : signOf(result), wasProbe, now)) return
    const fields = { destinationId, state: outage.state, status: result.status }
    if (outage.state === 'ok') logger.info(fields, 'destination answers again')
    else logger.warn(fields, 'destination is failing: only probes are sent')
    onChange()
  }

  /**
   * An event was not taken. An answer that refuses it for good still says that the destination answers.
   *
   * @param text of the answer, without secrets.
   * @param startedAt when the attempt began, ms since 1970.
   */
  noteFailure(
    { kind, status }: Ended,
    text: string,
    answerClass: AnswerClass,
    history: DeliveryHistory,
    startedAt: number,
  ) {
    this.#lastFailure = { status, text }
    if (answerClass === 'abort') {
      if (kind === 'answer') this.#failing = undefined
      return
    }
    const before = this.#failing?.last
    const noAnswer = kind === 'answer' ? null : noAnswerText(text)
    const failed: Failed = kind === 'answer' ? { status, noAnswer } : { status: null, noAnswer }
    // One object for many events.
    const last = before?.status === failed.status && before.noAnswer === noAnswer ? before : failed
    history.lastFailed = last
    this.#failing = { since: this.#failing?.since ?? startedAt, last }
  }
}
