import type { AnswerClass } from '@millrace/protocol'
import { noAnswerText } from '../lane/attempts/wait-cause.ts'
import type { DeliveryHistory, Failed } from '../lane/history/delivery-history.ts'
import type { AttemptNote, LaneLimits } from '../limits/destination-limits.ts'
import { type Ended, isOverload, type Meaning, signOf } from './classify.ts'

export interface TroubleOptions {
  readonly destinationId: string
  readonly limits: LaneLimits
  /** The outage began or ended by an attempt of this lane. */
  readonly onChange: () => void
  readonly logger: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
}

/** Tells the limits of a destination what the attempts of a lane say about it. */
export class Trouble {
  readonly #options: TroubleOptions
  /** Of the last failed attempt that is retried. */
  #lastFailed: Failed | undefined

  constructor(options: TroubleOptions) {
    this.#options = options
  }

  /**
   * An attempt ended; it is the end of a probe, if it was one.
   *
   * @param isReplay what is replayed may be what no destination bears: it begins no outage.
   * @param now monotonic.
   */
  note(result: Meaning, answerClass: AnswerClass, isReplay: boolean, now: number): void {
    const { destinationId, limits, logger, onChange } = this.#options
    if (!limits.note(this.#noteOf(result, answerClass, isReplay, now), now)) return
    const state = limits.outageState
    const fields = { destinationId, state, status: result.status }
    if (state === 'ok') logger.info(fields, 'destination answers again')
    else logger.warn(fields, 'destination is failing: only probes are sent')
    onChange()
  }

  #noteOf(result: Meaning, answerClass: AnswerClass, isReplay: boolean, now: number): AttemptNote {
    const saysNothing = isReplay && this.#options.limits.outageState === 'ok'
    if (answerClass === 'delivered') return saysNothing ? DELIVERED_REPLAY : DELIVERED
    if (result.kind === 'refused') return REFUSED
    return {
      sign: saysNothing ? undefined : signOf(result),
      isDelivered: false,
      overloadedSince: isOverload(result) ? now - result.durationMs : undefined,
    }
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
    const { limits } = this.#options
    if (answerClass === 'abort') {
      limits.noteFailure({ status, text }, kind === 'answer' ? undefined : null)
      return
    }
    const before = this.#lastFailed
    const noAnswer = kind === 'answer' ? null : noAnswerText(text)
    const failed: Failed = kind === 'answer' ? { status, noAnswer } : { status: null, noAnswer }
    // One object for many events.
    const last = before?.status === failed.status && before.noAnswer === noAnswer ? before : failed
    this.#lastFailed = last
    history.lastFailed = last
    limits.noteFailure({ status, text }, { since: limits.failing?.since ?? startedAt, last })
  }
}

const DELIVERED: AttemptNote = { sign: 'good', isDelivered: true, overloadedSince: undefined }
const DELIVERED_REPLAY: AttemptNote = { ...DELIVERED, sign: undefined }
/** The egress guard refused the address: the destination was not asked. */
const REFUSED: AttemptNote = { sign: undefined, isDelivered: false, overloadedSince: undefined }
