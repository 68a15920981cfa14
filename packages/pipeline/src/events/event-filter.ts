import { eventName, type StoredEvent } from '@millrace/protocol'

/** The outcomes of an event at a destination. @see contracts/delivery.md §1 */
export const OUTCOMES = [
  'pending',
  'blocked',
  'throttled',
  'retrying',
  'delivered',
  'filtered',
  'dropped_by_transformation',
  'duplicate',
  'dead_lettered',
  'discarded',
  'expired',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Outcomes that are not final. */
const UNFINISHED: readonly string[] = ['pending', 'blocked', 'throttled', 'retrying']

export const FINAL_OUTCOMES: readonly Outcome[] = OUTCOMES.filter((outcome) => !UNFINISHED.includes(outcome))

export function isUnfinished(outcome: string): boolean {
  return UNFINISHED.includes(outcome)
}

/** A filter of events; absent members do not restrict. @see contracts/delivery.md §8 */
export interface EventFilter {
  readonly sourceId?: string | undefined
  readonly type?: string | undefined
  readonly name?: string | undefined
  /** Excludes this name. */
  readonly notName?: string | undefined
  readonly anonymousId?: string | undefined
  readonly userId?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly destinationId?: string | undefined
}

/** Evaluates the filters by the event itself, not by its outcomes. */
export function matchesEvent(event: StoredEvent, filter: EventFilter): boolean {
  const { type, name, notName, userId, anonymousId } = filter
  return (
    (type === undefined || event.type === type) &&
    (name === undefined || eventName(event) === name) &&
    (notName === undefined || eventName(event) !== notName) &&
    (userId === undefined || event.userId === userId) &&
    (anonymousId === undefined || event.anonymousId === anonymousId)
  )
}

/** Whether a filter has no condition on the event itself. */
export function takesEveryEvent({ type, name, notName, userId, anonymousId }: EventFilter): boolean {
  return [type, name, notName, userId, anonymousId].every((sought) => sought === undefined)
}

/** Whether the outcome of an event at one destination matches. */
export function matchesOutcome(
  { destinationId, outcome }: { readonly destinationId: string; readonly outcome: string },
  filter: EventFilter,
): boolean {
  return (
    (filter.destinationId === undefined || filter.destinationId === destinationId) &&
    (filter.outcome === undefined || filter.outcome === outcome)
  )
}

/** Whether a filter has a condition on outcomes. */
export function asksForOutcome({ outcome, destinationId }: EventFilter): boolean {
  return outcome !== undefined || destinationId !== undefined
}

/** The fields of an event that lists and the live view show. */
export function eventFacts(event: StoredEvent) {
  const { messageId, type, userId, anonymousId } = event
  return { messageId, type, name: eventName(event), userId: userId || null, anonymousId: anonymousId || null }
}
