import type { BatchOutcome } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import {
  abortReason,
  type Ended,
  flatHeaders,
  type Meaning,
  parsedBody,
  readable,
  shownResult,
} from '../../failure/classify.ts'
import type { Stage } from '../../store/outcomes/flush.ts'
import type { DeliveryAttempts, EndedCall } from '../attempts/attempts.ts'
import type { CallsInFlight } from '../calls-in-flight.ts'
import type { Joiner, ReadyRequests } from '../prepared.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import { allowedOf, type Batch, type Throttle } from './batch.ts'

/** Parts of a lane that batches use, and what the lane does after them. */
export interface BatchAttemptsDeps extends Throttle {
  readonly attempts: DeliveryAttempts
  readonly calls: CallsInFlight
  readonly clock: Clock
  /** They have their outcome. */
  readonly onDelivered: (events: readonly LaneEvent[]) => void
  /** They are to be sent again after a wait, together. */
  readonly onRetry: (events: readonly LaneEvent[], result: Ended, waitMs: number) => void
  /** They were not sent, or their call was aborted. */
  readonly onUnsent: (events: readonly LaneEvent[]) => void
  /** The batch has ended: the lane may start another call. */
  readonly onEnd: () => void
}

/** Refusals that may be about one event of a batch; so may be an error in the body of a 2xx. */
const MAY_BE_ABOUT_ONE = new Set([400, 413, 422])
/** Requests for one batch whose events are refused; what is left then waits. */
const MAX_REQUESTS = 64

interface Group {
  readonly events: readonly LaneEvent[]
  readonly parts: readonly ReadyRequests[]
  /** Whether its events have their places of the throttle, for one request. */
  readonly hasPlaces: boolean
}

/** What an answer says about each event; undefined: it says the same about all of them. */
interface Outcomes {
  readonly each: readonly BatchOutcome[] | undefined
  readonly all: BatchOutcome
  /** Of the answer as a whole. */
  readonly meaning: Meaning
}

/** A batch that is being sent: as one request or, if that is refused, in parts, one after the other. */
interface Run {
  readonly joiner: Joiner
  readonly pending: Group[]
  requests: number
  /** Number of interruptions before it began. */
  readonly interruptions: number
}

/**
 * Sends batches, and gives each of their events its outcome.
 *
 * @see contracts/delivery.md §4a
 */
export class BatchAttempts {
  readonly #deps: BatchAttemptsDeps
  /** Batches whose next part waits for the throttle. They have no call meanwhile. */
  readonly #throttled: Run[] = []
  #interruptions = 0

  constructor(deps: BatchAttemptsDeps) {
    this.#deps = deps
  }

  /** Sends a batch whose events have their places of the throttle. Never throws: what fails ends the events at fault alone. */
  start({ joiner, events, parts }: Batch): void {
    const pending = [{ events, parts, hasPlaces: true }]
    this.#sendNext({ joiner, pending, requests: 0, interruptions: this.#interruptions })
  }

  /** Goes on with the batches that waited for the throttle. @param reserve takes the right to a call for an event. */
  goOn(reserve: (event: LaneEvent) => boolean): void {
    for (const run of this.#throttled.splice(0)) {
      const next = run.pending.flatMap(({ events }) => events).find(isSending)
      if (next === undefined) continue
      if (reserve(next)) this.#sendPart(run)
      else this.#throttled.push(run)
    }
  }

  /** Batches end with the request that is in flight; what is left of them is not sent. */
  interrupt(): void {
    this.#interruptions++
    for (const run of this.#throttled.splice(0)) this.#stopRun(run, [])
  }

  #sendNext(run: Run): void {
    if (!this.#sendPart(run)) this.#deps.onEnd()
  }

  /** @returns whether a call was started. If none was, the batch has ended or waits for the throttle. */
  #sendPart(run: Run): boolean {
    if (run.interruptions !== this.#interruptions) this.#stopRun(run, [])
    for (let group = run.pending.shift(); group !== undefined; group = run.pending.shift()) {
      const left = unfinished(group)
      const allowed = left.hasPlaces
        ? left.events.length
        : allowedOf(left.events, this.#deps.clock.monotonic(), this.#deps)
      if (allowed < left.events.length) run.pending.unshift(slice(left, allowed))
      if (allowed > 0) {
        const part = left.hasPlaces ? left : { ...slice(left, 0, allowed), hasPlaces: true }
        if (this.#send(run, part)) return true
      } else if (left.events.length > 0) {
        this.#throttled.push(run)
        return false
      }
    }
    return false
  }

  /** @returns whether a call was started. */
  #send(run: Run, group: Group): boolean {
    const { attempts, calls, clock } = this.#deps
    const { events, parts } = group
    let ready: ReadyRequests
    try {
      ready = run.joiner.join(parts)
    } catch (error) {
      if (events.length === 1) attempts.fail(events[0]!, error as Error)
      else run.pending.unshift(...halves(group))
      return false
    }
    const request = ready.requests[0]!
    const startedAt = clock.now()
    run.requests++
    const readsBody = ready.classify !== undefined || run.joiner.outcomes !== undefined
    calls.sendBatch(events, request, (ended) => {
      try {
        if (ended.kind === 'aborted') this.#stopRun(run, events)
        else {
          const result = readable(ended, readsBody)
          this.#judge(run, group, ready, { number: 0, request, result, startedAt, events: events.length })
        }
      } catch (error) {
        for (const event of events) if (event.state === 'sending') attempts.fail(event, error as Error)
      }
      this.#sendNext(run)
    })
    return true
  }

  #judge(run: Run, group: Group, ready: ReadyRequests, call: EndedCall): void {
    const { attempts } = this.#deps
    const { result } = call
    const each = outcomesOf(run.joiner, result, group.parts)
    const { answerClass: whole, meaning } = attempts.judge(
      result,
      ready.classify,
      group.events[0]!.replayed !== undefined,
    )
    const isUnclear = whole === 'abort' ? mayBeAboutOne(result) : whole === 'delivered' && isUnread(result, run.joiner)
    const isSplit = each === undefined && isUnclear && group.events.length > 1
    if (isSplit && this.#mayAdd(run, 2)) {
      run.pending.unshift(...halves({ ...group, hasPlaces: false }))
      return
    }
    const shown = { ...call, result: shownResult(result, meaning) }
    this.#settle(run, group, ready, shown, { each, all: isSplit ? 'retry' : whole, meaning })
  }

  #settle(run: Run, group: Group, ready: ReadyRequests, call: EndedCall, { each, all, meaning }: Outcomes): void {
    const { attempts, onDelivered, onRetry } = this.#deps
    const delivered: LaneEvent[] = []
    const failed: { event: LaneEvent; meaning: Meaning }[] = []
    const refused: { event: LaneEvent; stage: Stage; reason: string }[] = []
    const again = { events: [] as LaneEvent[], parts: [] as ReadyRequests[], hasPlaces: false }
    for (const [at, event] of group.events.entries()) {
      // It may have been dropped meanwhile.
      if (event.state === 'done') continue
      const outcome = each?.[at] ?? all
      const part = group.parts[at]!
      const { ownEnd } = part
      const ownCall = ownEnd === undefined ? call : { ...call, result: ownEnd.result }
      if (outcome === 'delivered') {
        attempts.noteDelivered(event, ready, ownCall)
        delivered.push(event)
      } else if (outcome === 'resend' && this.#mayAdd(run, 1)) {
        again.events.push(event)
        again.parts.push(part)
      } else {
        attempts.noteFailed(event, ready, ownCall, outcome === 'abort' ? 'abort' : 'retry')
        const { result } = ownCall
        const stage = ownEnd?.stage ?? ready.abortStage ?? 'delivery'
        if (outcome === 'abort') refused.push({ event, stage, reason: abortReason(result) })
        else failed.push({ event, meaning: ownEnd?.result ?? meaning })
      }
    }
    onDelivered(delivered)
    for (const { event, stage, reason } of refused) attempts.giveUp(event, stage, reason)
    if (again.events.length > 0) run.pending.unshift(again)
    if (failed.length === 0) return
    // What is left of the batch was part of the call that failed: it waits, too, unless the answer blames single events.
    const left = each?.some((outcome) => outcome !== 'retry') ? [] : run.pending.splice(0)
    for (const event of left.flatMap(({ events }) => events)) {
      if (event.state !== 'sending') continue
      attempts.noteFailed(event, ready, call, 'retry')
      failed.push({ event, meaning })
    }
    // None is given up before the earlier ones of its user.
    const waiting = failed
      .filter(({ event, meaning }) => event.blockers > 0 || !attempts.giveUpIfDue(event, meaning))
      .map(({ event }) => event)
    if (waiting.length > 0) onRetry(waiting, call.result, attempts.waitMs(waiting, call.result))
  }

  #stopRun(run: Run, events: readonly LaneEvent[]): void {
    const unsent = [...events, ...run.pending.splice(0).flatMap((group) => group.events)]
    this.#deps.onUnsent(unsent.filter(isSending))
  }

  #mayAdd(run: Run, requests: number): boolean {
    return run.requests + run.pending.length + requests <= MAX_REQUESTS
  }
}

/** An event that was dropped meanwhile is not. */
function isSending({ state }: LaneEvent): boolean {
  return state === 'sending'
}

function unfinished(group: Group): Group {
  const { events, parts } = group
  if (events.every(isSending)) return group
  return { ...group, events: events.filter(isSending), parts: parts.filter((_, at) => isSending(events[at]!)) }
}

function halves(group: Group): Group[] {
  const middle = Math.ceil(group.events.length / 2)
  return [slice(group, 0, middle), slice(group, middle)]
}

function slice({ events, parts, hasPlaces }: Group, from: number, to?: number): Group {
  return { events: events.slice(from, to), parts: parts.slice(from, to), hasPlaces }
}

function mayBeAboutOne({ kind, status }: Ended): boolean {
  return kind === 'answer' && (MAY_BE_ABOUT_ONE.has(status) || (status >= 200 && status < 300))
}

/** Whether an answer that names outcomes is too large to be read. Smaller batches have smaller answers. */
function isUnread(result: Ended, { outcomes }: Joiner): boolean {
  return outcomes !== undefined && result.kind === 'answer' && result.isCut
}

function outcomesOf(
  joiner: Joiner,
  result: Ended,
  parts: readonly ReadyRequests[],
): readonly BatchOutcome[] | undefined {
  if (result.kind !== 'answer' || joiner.outcomes === undefined) return undefined
  const { status, headers, text } = result
  const outcomes = joiner.outcomes({ status, headers: flatHeaders(headers), body: parsedBody(text) }, parts)
  // Without an event to blame, to send the same batch again would not end.
  const blamesNone = outcomes?.every((outcome) => outcome === 'resend')
  return outcomes?.length === parts.length && !blamesNone ? outcomes : undefined
}
