import { eventName, type StoredEvent } from '@millrace/protocol'

/** What an event can have come to at a destination. @see contracts/delivery.md §1 */
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

/** Those that are not final. */
const UNFINISHED: readonly string[] = ['pending', 'blocked', 'throttled', 'retrying']

export const FINAL_OUTCOMES: readonly Outcome[] = OUTCOMES.filter((outcome) => !UNFINISHED.includes(outcome))

export function isUnfinished(outcome: string): boolean {
  return UNFINISHED.includes(outcome)
}

/** Which events somebody wants to see; what is left out does not restrict. @see contracts/delivery.md §8 */
export interface EventFilter {
  readonly sourceId?: string | undefined
  readonly type?: string | undefined
  readonly name?: string | undefined
  /** All but those of this name. */
  readonly notName?: string | undefined
  readonly anonymousId?: string | undefined
  readonly userId?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly destinationId?: string | undefined
}

/** Of the filters that lie in the event, not in what became of it. */
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

/** Whether a filter asks for nothing that lies in the event. */
export function takesEveryEvent({ type, name, notName, userId, anonymousId }: EventFilter): boolean {
  return [type, name, notName, userId, anonymousId].every((sought) => sought === undefined)
}

/** Whether what became of an event at one destination is what is looked for. */
export function matchesOutcome(
  { destinationId, outcome }: { readonly destinationId: string; readonly outcome: string },
  filter: EventFilter,
): boolean {
  return (
    (filter.destinationId === undefined || filter.destinationId === destinationId) &&
    (filter.outcome === undefined || filter.outcome === outcome)
  )
}

/** Whether a filter asks what became of events. */
export function asksForOutcome({ outcome, destinationId }: EventFilter): boolean {
  return outcome !== undefined || destinationId !== undefined
}

/** What lists and the live view show of every event. */
export function eventFacts(event: StoredEvent) {
  const { messageId, type, userId, anonymousId } = event
  return { messageId, type, name: eventName(event), userId: userId || null, anonymousId: anonymousId || null }
}
