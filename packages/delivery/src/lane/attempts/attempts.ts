import { type AnswerClass, formatTime } from '@millrace/protocol'
import { abortReason, type Ended, type Meaning, meaningOf, readable, shownResult } from '../../failure/classify.ts'
import { type ClockReading, giveUpAfterAttempt } from '../../failure/give-up.ts'
import { retryAfterMs, retryWaitMs } from '../../failure/retry-schedule.ts'
import type { Trouble } from '../../failure/trouble.ts'
import type { LaneLimits } from '../../limits/destination-limits.ts'
import type { OutboundRequest } from '../../outbound/outbound-request.ts'
import type { LatencyWindow } from '../../pace/latency-window.ts'
import type { Stage } from '../../store/outcomes/flush.ts'
import { INTERNAL_ERROR } from '../../store/outcomes/replaced-rows.ts'
import type { CallsInFlight } from '../calls-in-flight.ts'
import { keptText, newHistory, noteAttempt } from '../history/delivery-history.ts'
import type { OutcomeRecorder } from '../history/outcome-recorder.ts'
import type { Attempt } from '../history/request-history.ts'
import { headerText, type LaneOptions, type LaneSettings } from '../lane-options.ts'
import type { Payloads } from '../payloads.ts'
import type { Classify, ReadyRequests } from '../prepared.ts'
import type { LaneEvent } from '../queue/lane-event.ts'

/** Parts of a lane that its attempts use, and what the lane does after them. */
export interface DeliveryAttemptsDeps {
  readonly options: LaneOptions
  readonly calls: CallsInFlight
  readonly recorder: OutcomeRecorder
  readonly trouble: Trouble
  readonly limits: LaneLimits
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
  /** The lane has stopped, or the attempt was aborted: the rest of the event is sent after the next start. */
  readonly onAborted: (event: LaneEvent) => void
}

/** A call that has ended. */
export interface EndedCall {
  /** Which of the event's requests it was. */
  readonly number: number
  readonly request: OutboundRequest
  readonly result: Ended
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** How many events it carried. */
  readonly events: number
}

/**
 * The attempts of a lane: sends the requests of an event one after the other, classifies each answer, and gives the event its
 * outcome or another attempt.
 */
export class DeliveryAttempts {
  readonly #deps: DeliveryAttemptsDeps

  constructor(deps: DeliveryAttemptsDeps) {
    this.#deps = deps
  }

  /** Sends a loaded event by itself. Never throws: what fails ends this event alone. */
  start(event: LaneEvent): void {
    const ready = this.prepare(event)
    if (ready !== undefined) this.startReady(event, ready)
  }

  /** As `start`, for an event that is prepared. */
  startReady(event: LaneEvent, ready: ReadyRequests): void {
    event.state = 'sending'
    try {
      this.#call(event, ready, event.history?.deliveredRequests ?? 0)
    } catch (error) {
      this.fail(event, error as Error)
    }
  }

  /** Prepares a loaded event for sending. @returns undefined if the event has ended instead. */
  prepare(event: LaneEvent): ReadyRequests | undefined {
    event.state = 'sending'
    try {
      const prepared = event.transformed?.kind === 'dropped' ? 'dropped' : this.#prepared(event)
      if (prepared !== 'dropped' && 'requests' in prepared) return prepared
      this.#deps.limits.endProbe()
      if (prepared === 'dropped') {
        this.#deps.recorder.dropped(event)
        this.#deps.onSettled(event)
      } else {
        this.giveUp(event, prepared.stage, prepared.error)
      }
    } catch (error) {
      this.fail(event, error as Error)
    }
    return undefined
  }

  /** The requests of an event that waits for earlier ones; undefined if it would end instead, which is not its turn yet. */
  requestsOf(event: LaneEvent): ReadyRequests | undefined {
    try {
      const prepared = event.transformed?.kind === 'dropped' ? undefined : this.#prepared(event)
      return prepared !== undefined && 'requests' in prepared ? prepared : undefined
    } catch {
      // It fails again, and is told, when its turn comes.
      return undefined
    }
  }

  #prepared(event: LaneEvent) {
    const { transformed } = event
    if (transformed?.kind === 'failed') return { stage: 'user_transformation', error: transformed.error } as const
    return this.#deps.options.prepare(event)
  }

  #call(event: LaneEvent, ready: ReadyRequests, number: number): void {
    const request = ready.requests[number]
    if (request === undefined) {
      this.#deps.limits.endProbe()
      const aborted = ready.sendsAfterAbort ? abortedAttempt(event) : undefined
      if (aborted !== undefined) {
        this.giveUp(event, 'delivery', `answered ${aborted.status}`)
        return
      }
      this.#deps.limits.countDelivered()
      this.#deps.recorder.delivered(event)
      this.#deps.onSettled(event)
      return
    }
    const startedAt = this.#deps.options.clock.now()
    this.#deps.calls.send(event, request, (ended) => {
      try {
        if (ended.kind === 'aborted') {
          this.#aborted(event)
          return
        }
        const result = readable(ended, ready.classify !== undefined)
        this.#judge(event, ready, { number, request, result, startedAt, events: 1 })
      } catch (error) {
        this.fail(event, error as Error)
      }
    })
  }

  #judge(event: LaneEvent, ready: ReadyRequests, call: EndedCall): void {
    const wasProbe = this.#deps.limits.isProbing
    const { answerClass, meaning } = this.judge(call.result, ready.classify, event.replayed !== undefined)
    if (answerClass === 'delivered' && ready.requests.length === 1 && this.#isPlain(event)) {
      this.#deliveredAtOnce(event, call)
      this.#deps.onSettled(event)
      return
    }
    const result = shownResult(call.result, meaning)
    this.#note(event, ready, { ...call, result }, answerClass, wasProbe)
    const { number } = call
    if (answerClass === 'delivered') {
      if (this.#deps.isStopped() && number + 1 < ready.requests.length) {
        this.#deps.recorder.waits(event, null)
        this.#deps.onAborted(event)
      } else this.#call(event, ready, number + 1)
    } else if (answerClass === 'abort') this.#aborts(event, ready, call)
    else if (!this.giveUpIfDue(event, meaning)) this.#deps.onRetry(event, result, this.waitMs([event], result))
  }

  #aborts(event: LaneEvent, ready: ReadyRequests, { number, result }: EndedCall): void {
    const next = number + 1
    if (ready.sendsAfterAbort && next < ready.requests.length) {
      event.history!.deliveredRequests = next
      this.#call(event, ready, next)
    } else this.giveUp(event, ready.abortStage ?? 'delivery', abortReason(result))
  }

  /** Classifies an answer, and notes what it says about the destination. */
  judge(result: Ended, classify: Classify | undefined, isReplay: boolean): ReturnType<typeof meaningOf> {
    const { options, trouble, latency, onJudged } = this.#deps
    const judged = meaningOf(result, classify)
    const { answerClass, meaning } = judged
    options.onAttempt(answerClass)
    trouble.note(meaning, answerClass, isReplay, options.clock.monotonic())
    onJudged()
    latency.add(result.durationMs)
    return judged
  }

  /** Records a delivered event of a batch. */
  noteDelivered(event: LaneEvent, ready: ReadyRequests, call: EndedCall): void {
    if (this.#isPlain(event)) {
      this.#deliveredAtOnce(event, call)
      return
    }
    this.#note(event, ready, call, 'delivered', false)
    this.#deps.limits.countDelivered()
    this.#deps.recorder.delivered(event)
  }

  /** Notes the failed attempt of an event of a batch. @param answerClass what it means for this event. */
  noteFailed(event: LaneEvent, ready: ReadyRequests, call: EndedCall, answerClass: 'retry' | 'abort'): void {
    this.#note(event, ready, call, answerClass, false)
  }

  /** Whether nothing has to be stored of a delivered event but that. */
  #isPlain({ history, replayed }: LaneEvent): boolean {
    return history === undefined && replayed?.letterId === undefined && this.#deps.settings().keepAnswers === 'failed'
  }

  #deliveredAtOnce(event: LaneEvent, { result, startedAt, events }: EndedCall): void {
    this.#deps.limits.countDelivered()
    this.#deps.recorder.deliveredAtOnce(event, result.status, result.durationMs, startedAt, events)
  }

  #note(event: LaneEvent, ready: ReadyRequests, call: EndedCall, answerClass: AnswerClass, wasProbe: boolean): void {
    const { number, request, result, startedAt, events } = call
    const { options, payloads, trouble, limits } = this.#deps
    event.history ??= newHistory(startedAt, options.clock.monotonic() - result.durationMs)
    const { history } = event
    history.attempts++
    // A failed probe already counts for every waiting event, including this one.
    if (!wasProbe || limits.outageState !== 'resting') history.attemptsSinceStart++
    const text = keptText(ready.mask(result.text), answerClass)
    noteAttempt(history, number, () => ready.show(request), {
      at: formatTime(startedAt),
      durationMs: Math.round(result.durationMs),
      status: result.status,
      class: answerClass,
      text,
      ...(events > 1 ? { batch: events } : {}),
    })
    payloads.countHistory(event)
    if (answerClass === 'delivered') history.deliveredRequests = number + 1
    else trouble.noteFailure(result, text, answerClass, history, startedAt)
  }

  /** Dead-letters an event whose failed attempt was its last. @returns whether it was. */
  giveUpIfDue(event: LaneEvent, meaning: Meaning): boolean {
    const { deliveredEvents, outage } = this.#deps.limits
    const reason = giveUpAfterAttempt(event, meaning, deliveredEvents, outage, this.#moment())
    if (reason !== undefined) this.giveUp(event, 'delivery', reason)
    return reason !== undefined
  }

  /** How long events of a failed call wait. */
  waitMs(events: readonly LaneEvent[], result: Ended): number {
    const { now } = this.#moment()
    const asked = result.kind === 'answer' ? retryAfterMs(headerText(result.headers, 'retry-after'), now) : 0
    const attempts = events.reduce((most, { history }) => Math.max(most, history!.attempts), 1)
    return Math.max(retryWaitMs(attempts, this.#deps.options.random()), asked)
  }

  #aborted(event: LaneEvent): void {
    this.#deps.limits.endProbe()
    if (event.state !== 'sending') return
    event.state = 'ready'
    // Delivered requests are recorded, so that they are not sent again.
    if (event.history !== undefined) this.#deps.recorder.waits(event, null)
    this.#deps.onAborted(event)
  }

  /** Dead-letters an event on which our code or the destination's failed; other events are not affected. */
  fail(event: LaneEvent, error: Error & { code?: unknown }): void {
    this.#deps.limits.endProbe()
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
    this.#deps.recorder.deadLetter(event, stage, reason, this.#deps.limits.lastFailure)
    this.#deps.onSettled(event)
  }

  #moment(): ClockReading {
    const { clock } = this.#deps.options
    return { now: clock.now(), monotonic: clock.monotonic() }
  }
}

/** The last attempt of a request of the event that was aborted. */
function abortedAttempt({ history }: LaneEvent): Attempt | undefined {
  return history?.requests?.map((request) => request?.attempts.at(-1)).find((attempt) => attempt?.class === 'abort')
}
