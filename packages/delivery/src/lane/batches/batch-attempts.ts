import type { BatchOutcome } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { abortReason, type Ended, flatHeaders, type Meaning, parsedBody, readable } from '../../failure/classify.ts'
import type { Stage } from '../../store/outcomes/flush.ts'
import type { DeliveryAttempts, EndedCall } from '../attempts/attempts.ts'
import type { CallsInFlight } from '../calls-in-flight.ts'
import type { Joiner, ReadyRequests } from '../prepared.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import type { Batch } from './batch.ts'

/** Parts of a lane that batches use, and what the lane does after them. */
export interface BatchAttemptsDeps {
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
  #interruptions = 0

  constructor(deps: BatchAttemptsDeps) {
    this.#deps = deps
  }

  /** Never throws: what fails ends the events at fault alone. */
  start({ joiner, events, parts }: Batch): void {
    this.#sendNext({ joiner, pending: [{ events, parts }], requests: 0, interruptions: this.#interruptions })
  }

  /** Batches end with the request that is in flight; what is left of them is not sent. */
  interrupt(): void {
    this.#interruptions++
  }

  #sendNext(run: Run): void {
    if (run.interruptions !== this.#interruptions) this.#stopRun(run, [])
    for (let group = run.pending.shift(); group !== undefined; group = run.pending.shift()) {
      const left = unfinished(group)
      if (left.events.length > 0 && this.#send(run, left)) return
    }
    this.#deps.onEnd()
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
    const isSplit = each === undefined && whole === 'abort' && group.events.length > 1 && mayBeAboutOne(result)
    if (isSplit && this.#mayAdd(run, 2)) {
      run.pending.unshift(...halves(group))
      return
    }
    this.#settle(run, group, ready, call, { each, all: isSplit ? 'retry' : whole, meaning })
  }

  #settle(run: Run, group: Group, ready: ReadyRequests, call: EndedCall, { each, all, meaning }: Outcomes): void {
    const { attempts, onDelivered, onRetry } = this.#deps
    const delivered: LaneEvent[] = []
    const failed: { event: LaneEvent; meaning: Meaning }[] = []
    const refused: { event: LaneEvent; stage: Stage; reason: string }[] = []
    const again: { events: LaneEvent[]; parts: ReadyRequests[] } = { events: [], parts: [] }
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
    this.#deps.onUnsent(unsent.filter(({ state }) => state === 'sending'))
  }

  #mayAdd(run: Run, requests: number): boolean {
    return run.requests + run.pending.length + requests <= MAX_REQUESTS
  }
}

function unfinished({ events, parts }: Group): Group {
  if (events.every(({ state }) => state === 'sending')) return { events, parts }
  const isLeft = (at: number) => events[at]!.state === 'sending'
  return { events: events.filter((_, at) => isLeft(at)), parts: parts.filter((_, at) => isLeft(at)) }
}

function halves({ events, parts }: Group): Group[] {
  const middle = Math.ceil(events.length / 2)
  return [
    { events: events.slice(0, middle), parts: parts.slice(0, middle) },
    { events: events.slice(middle), parts: parts.slice(middle) },
  ]
}

function mayBeAboutOne({ kind, status }: Ended): boolean {
  return kind === 'answer' && (MAY_BE_ABOUT_ONE.has(status) || (status >= 200 && status < 300))
}

function outcomesOf(
  joiner: Joiner,
  result: Ended,
  parts: readonly ReadyRequests[],
): readonly BatchOutcome[] | undefined {
  if (result.kind !== 'answer' || joiner.outcomes === undefined) return undefined
  const { status, headers, text } = result
  const outcomes = joiner.outcomes({ status, headers: flatHeaders(headers), body: parsedBody(text) }, parts)
  return outcomes?.length === parts.length ? outcomes : undefined
}
