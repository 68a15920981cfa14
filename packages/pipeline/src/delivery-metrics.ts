import type { AnswerClass } from '@millrace/delivery'

export type CountedOutcome =
  | 'delivered'
  | 'filtered'
  | 'dropped_by_transformation'
  | 'dead_lettered'
  | 'expired'
  | 'discarded'

/** Counts of delivery, as plain numbers; whoever serves /metrics reads them. */
export class DeliveryMetrics {
  /** Destination → class or outcome → count. */
  readonly attempts = new Map<string, Map<AnswerClass, number>>()
  readonly outcomes = new Map<string, Map<CountedOutcome, number>>()

  /** By transformation: events that failed in it. */
  readonly transformationErrors = new Map<string, number>()

  transformationError(transformationId: string): void {
    this.transformationErrors.set(transformationId, (this.transformationErrors.get(transformationId) ?? 0) + 1)
  }

  attempt(destinationId: string, answerClass: AnswerClass): void {
    count(this.attempts, destinationId, answerClass, 1)
  }

  outcome(destinationId: string, outcome: CountedOutcome, events = 1): void {
    count(this.outcomes, destinationId, outcome, events)
  }
}

function count<Kind>(counts: Map<string, Map<Kind, number>>, destinationId: string, kind: Kind, n: number): void {
  let ofDestination = counts.get(destinationId)
  if (ofDestination === undefined) {
    ofDestination = new Map()
    counts.set(destinationId, ofDestination)
  }
  ofDestination.set(kind, (ofDestination.get(kind) ?? 0) + n)
}
