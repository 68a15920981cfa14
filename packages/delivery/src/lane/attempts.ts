import { formatTime } from '@millrace/protocol'
import { abortReason, classOf, type Ended } from '../failure/classify.ts'
import { type ClockReading, giveUpAfterAttempt } from '../failure/give-up.ts'
import { retryAfterMs, retryWaitMs } from '../failure/retry-schedule.ts'
import type { Trouble } from '../failure/trouble.ts'
import type { OutboundRequest } from '../outbound/outbound-request.ts'
import type { ConcurrencyLevel } from '../pace/concurrency-level.ts'
import type { LatencyWindow } from '../pace/latency-window.ts'
import type { Stage } from '../store/flush.ts'
import { INTERNAL_ERROR } from '../store/replaced-rows.ts'
import type { CallsInFlight } from './calls-in-flight.ts'
import { keptText, newHistory, noteAttempt } from './delivery-history.ts'
import type { LaneEvent } from './lane-event.ts'
import { headerText, type LaneOptions, type LaneSettings, type Prepared } from './lane-options.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { Payloads } from './payloads.ts'

type Ready = Extract<Prepared, { requests: unknown }>

/** Parts of a lane that its attempts use, and what the lane does after them. */
export interface DeliveryAttemptsDeps {
  readonly options: LaneOptions
  readonly calls: CallsInFlight
  readonly recorder: OutcomeRecorder
  readonly trouble: Trouble
  readonly level: ConcurrencyLevel
  readonly payloads: Payloads
  readonly latency: LatencyWindow
  readonly settings: () => LaneSettings
  readonly isStopped: () => boolean
  /** After each answer, and each attempt without one. */
  readonly onJudged: () => void
  /** The event has its outcome. */
  readonly onSettled: (event: LaneEvent) => void
  /** The event is to be sent again after a wait. */
  readonly onRetry: (event: LaneEvent, result: Ended, waitMs: number) => void
  /** The attempt was aborted; the event is as it was before. */
  readonly onAborted: (event: LaneEvent) => void
}

/**
 * The attempts of a lane: sends the requests of an event one after the other, classifies each answer, and gives the event its
 * outcome or another attempt.
 */
export class DeliveryAttempts {
  readonly #deps: DeliveryAttemptsDeps
  /** Events delivered since the start. */
  #delivered = 0

  constructor(deps: DeliveryAttemptsDeps) {
    this.#deps = deps
  }

  /** Sends a loaded event. Never throws: what fails ends this event alone. */
  start(event: LaneEvent): void {
    try {
      this.#begin(event)
    } catch (error) {
      this.fail(event, error as Error)
    }
  }

  #begin(event: LaneEvent): void {
    event.state = 'sending'
    if (event.transformed?.kind === 'dropped') {
      this.#deps.trouble.isProbing = false
      this.#deps.recorder.dropped(event)
      this.#deps.onSettled(event)
      return
    }
    if (event.transformed?.kind === 'failed') {
      this.#deps.trouble.isProbing = false
      this.giveUp(event, 'user_transformation', event.transformed.error)
      return
    }
    const prepared = this.#deps.options.prepare(event)
    if ('error' in prepared) {
      this.#deps.trouble.isProbing = false
      this.giveUp(event, prepared.stage, prepared.error)
      return
    }
    this.#call(event, prepared, event.history?.deliveredRequests ?? 0)
  }

  #call(event: LaneEvent, prepared: Ready, number: number): void {
    const request = prepared.requests[number]
    if (request === undefined) {
      this.#deps.trouble.isProbing = false
      this.#delivered++
      this.#deps.recorder.delivered(event)
      this.#deps.onSettled(event)
      return
    }
    const startedAt = this.#deps.options.clock.now()
    this.#deps.calls.send(event, request, (result) => {
      try {
        if (result.kind === 'aborted') this.#aborted(event)
        else this.#judge(event, prepared, number, request, result, startedAt)
      } catch (error) {
        this.fail(event, error as Error)
      }
    })
  }

  #judge(
    event: LaneEvent,
    prepared: Ready,
    number: number,
    request: OutboundRequest,
    result: Ended,
    startedAt: number,
  ): void {
    const answerClass = classOf(result, prepared.classify)
    const wasProbe = this.#deps.trouble.isProbing
    this.#deps.options.onAttempt(answerClass)
    this.#deps.trouble.note(result, answerClass, event.replayed !== undefined, this.#deps.options.clock.monotonic())
    this.#deps.onJudged()
    this.#deps.latency.add(result.durationMs)
    if (answerClass === 'delivered') {
      this.#deps.level.delivered()
      const isPlain =
        prepared.requests.length === 1 &&
        event.history === undefined &&
        event.replayed?.letterId === undefined &&
        this.#deps.settings().keepAnswers === 'failed'
      if (isPlain) {
        this.#delivered++
        this.#deps.recorder.deliveredAtOnce(event, result.status, result.durationMs, startedAt)
        this.#deps.onSettled(event)
        return
      }
    }
    event.history ??= newHistory(startedAt, this.#deps.options.clock.monotonic() - result.durationMs)
    const { history } = event
    history.attempts++
    // A failed probe already counts for every waiting event, including this one.
    if (!wasProbe || this.#deps.trouble.outage.state !== 'resting') history.attemptsSinceStart++
    const text = keptText(prepared.mask(result.text), answerClass)
    noteAttempt(history, number, () => prepared.show(request), {
      at: formatTime(startedAt),
      durationMs: Math.round(result.durationMs),
      status: result.status,
      class: answerClass,
      text,
    })
    this.#deps.payloads.countHistory(event)
    if (answerClass === 'delivered') {
      history.deliveredRequests = number + 1
      if (this.#deps.isStopped() && number + 1 < prepared.requests.length) this.#deps.recorder.waits(event, null)
      else this.#call(event, prepared, number + 1)
      return
    }
    this.#deps.trouble.noteFailure(result, text, answerClass, history, startedAt)
    if (answerClass === 'abort') this.giveUp(event, 'delivery', abortReason(result))
    else this.#retryOrGiveUp(event, result)
  }

  #retryOrGiveUp(event: LaneEvent, result: Ended): void {
    const moment = this.#moment()
    const isAnswer = result.kind === 'answer'
    const reason = giveUpAfterAttempt(
      event,
      result.status,
      isAnswer,
      this.#delivered,
      this.#deps.trouble.outage,
      moment,
    )
    if (reason !== undefined) {
      this.giveUp(event, 'delivery', reason)
      return
    }
    const asked = isAnswer ? retryAfterMs(headerText(result.headers, 'retry-after'), moment.now) : 0
    this.#deps.onRetry(
      event,
      result,
      Math.max(retryWaitMs(event.history!.attempts, this.#deps.options.random()), asked),
    )
  }

  #aborted(event: LaneEvent): void {
    this.#deps.trouble.isProbing = false
    if (event.state !== 'sending') return
    event.state = 'ready'
    // Delivered requests are recorded, so that they are not sent again.
    if (event.history !== undefined) this.#deps.recorder.waits(event, null)
    this.#deps.onAborted(event)
  }

  /** Dead-letters an event on which our code or the destination's failed; other events are not affected. */
  fail(event: LaneEvent, error: Error & { code?: unknown }): void {
    this.#deps.trouble.isProbing = false
    if (event.state === 'done') throw error
    if (error.code === 'DESTINATION_CODE') {
      this.giveUp(event, 'dest_transformation', this.#deps.options.mask(error.message))
      return
    }
    const { destinationId } = this.#deps.options
    const { partition, offset, index } = event
    this.#deps.options.logger.error(
      { destinationId, partition, offset, index, err: error },
      'an event cannot be handled',
    )
    this.giveUp(event, 'internal', INTERNAL_ERROR)
  }

  /** Ends an event as a dead letter. */
  giveUp(event: LaneEvent, stage: Stage, reason: string): void {
    this.#deps.recorder.deadLetter(event, stage, reason, this.#deps.trouble.lastFailure)
    this.#deps.onSettled(event)
  }

  #moment(): ClockReading {
    const { clock } = this.#deps.options
    return { now: clock.now(), monotonic: clock.monotonic() }
  }
}
