import { addedDurations, DURATION_BUCKETS, type DurationCounts, durationBucket } from '@millrace/delivery'
import type { AnswerClass } from '@millrace/protocol'
import type { StepFlow } from '@millrace/transformations'

/** Maximum of distinct reasons per destination: user code may produce a different reason for each event. */
const MAX_REASONS = 1_000
const OTHER_REASONS = 'other reasons'

export type CountedOutcome =
  | 'delivered'
  | 'filtered'
  | 'dropped_by_transformation'
  | 'dead_lettered'
  | 'expired'
  | 'discarded'

/** Counts of delivery since the start. */
export interface DeliveryCounts {
  /** Destination → class or outcome → count. */
  readonly attempts: ReadonlyMap<string, ReadonlyMap<AnswerClass, number>>
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<CountedOutcome, number>>
  /** Destination → outcome and reason, separated by a space → events. */
  readonly reasons: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** By transformation: events of live traffic. */
  readonly flows: ReadonlyMap<string, Readonly<TransformationFlow>>
  /** By transformation: events that failed in it. */
  readonly transformationErrors: ReadonlyMap<string, number>
}

/** Counts of delivery, as plain numbers; /metrics reads them. */
export class DeliveryMetrics implements DeliveryCounts {
  /** Destination → class or outcome → count. */
  readonly attempts = new Map<string, Map<AnswerClass, number>>()
  readonly outcomes = new Map<string, Map<CountedOutcome, number>>()

  /** Destination → outcome and reason, separated by a space → events. */
  readonly reasons = new Map<string, Map<string, number>>()
  /** By transformation: events of live traffic. */
  readonly flows = new Map<string, TransformationFlow>()
  /** By transformation: events that failed in it. */
  readonly transformationErrors = new Map<string, number>()

  transformationError(transformationId: string): void {
    this.transformationErrors.set(transformationId, (this.transformationErrors.get(transformationId) ?? 0) + 1)
  }

  attempt(destinationId: string, answerClass: AnswerClass): void {
    count(this.attempts, destinationId, answerClass, 1)
  }

  outcome(destinationId: string, outcome: CountedOutcome, events = 1, reason: string | null = null): void {
    count(this.outcomes, destinationId, outcome, events)
    if (reason === null) return
    const known = this.reasons.get(destinationId)
    const isKept = known === undefined || known.size < MAX_REASONS || known.has(`${outcome} ${reason}`)
    count(this.reasons, destinationId, `${outcome} ${isKept ? reason : OTHER_REASONS}`, events)
  }

  /** Adds the counts of a shard. */
  add({ attempts, outcomes, reasons, transformationErrors, flows }: DeliveryCounts): void {
    for (const [id, counts] of attempts) for (const [kind, n] of counts) count(this.attempts, id, kind, n)
    for (const [id, counts] of outcomes) for (const [kind, n] of counts) count(this.outcomes, id, kind, n)
    for (const [id, counts] of reasons) for (const [kind, n] of counts) count(this.reasons, id, kind, n)
    for (const [id, n] of transformationErrors) {
      this.transformationErrors.set(id, (this.transformationErrors.get(id) ?? 0) + n)
    }
    for (const [id, flow] of flows) this.flows.set(id, addedFlows(this.flows.get(id), flow))
  }

  /** @param durationMs of the whole run, including waits. */
  flow(transformationId: string, step: StepFlow, durationMs: number): void {
    let flow = this.flows.get(transformationId)
    if (flow === undefined) {
      flow = { in: 0, out: 0, errors: 0, durations: Array(DURATION_BUCKETS).fill(0) }
      this.flows.set(transformationId, flow)
    }
    flow.in += step.in
    flow.out += step.out
    flow.errors += step.errors
    flow.durations[durationBucket(durationMs)]!++
  }
}

/** Events and time of a transformation since the start. */
export interface TransformationFlow {
  in: number
  out: number
  errors: number
  /** Of runs, by bucket. */
  durations: number[]
}

function addedFlows(a: TransformationFlow | undefined, b: Readonly<TransformationFlow>): TransformationFlow {
  if (a === undefined) return b
  const durations = addedDurations(a.durations, b.durations) satisfies DurationCounts as number[]
  return { in: a.in + b.in, out: a.out + b.out, errors: a.errors + b.errors, durations }
}

function count<Kind>(counts: Map<string, Map<Kind, number>>, destinationId: string, kind: Kind, n: number): void {
  let ofDestination = counts.get(destinationId)
  if (ofDestination === undefined) {
    ofDestination = new Map()
    counts.set(destinationId, ofDestination)
  }
  ofDestination.set(kind, (ofDestination.get(kind) ?? 0) + n)
}
