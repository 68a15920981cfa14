import type { ListedEvent } from '@millrace/api-types'
import type { TailMessage } from '../../api/tail-messages.ts'

/** Maximum of live rows; the oldest are removed first. */
export const MAX_LIVE_ROWS = 10_000
/** Maximum of events outside the live rows with new outcomes. */
const MAX_TOLD = 10_000

type EventOutcome = ListedEvent['outcomes'][number]

export interface LiveEvents {
  /** From the current stream; newest first. */
  readonly rows: readonly ListedEvent[]
  /** From the stream before an interruption, until the list is read again. */
  readonly before: readonly ListedEvent[]
  /** Arrived while the user read other rows: not shown yet; newest first. */
  readonly waiting: readonly ListedEvent[]
  /** New outcomes of listed events, by messageId. */
  readonly told: ReadonlyMap<string, readonly EventOutcome[]>
  /** Number of omitted messages, above 50 a second. */
  readonly skipped: number
}

export type LiveStep =
  | { readonly kind: 'messages'; readonly messages: readonly TailMessage[]; readonly isHeld: boolean }
  | { readonly kind: 'listed'; readonly events: readonly ListedEvent[]; readonly isHeld: boolean }
  /** New outcomes of existing rows. */
  | { readonly kind: 'caught-up'; readonly events: readonly ListedEvent[] }
  /** Shows the waiting rows. */
  | { readonly kind: 'released' }
  /** The stream begins: earlier messages may be out of date until the list is read again. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'read' }
  /** The filters changed. */
  | { readonly kind: 'begun' }

export const NO_LIVE_EVENTS: LiveEvents = { rows: [], before: [], waiting: [], told: new Map(), skipped: 0 }

export function nextLiveEvents(live: LiveEvents, step: LiveStep): LiveEvents {
  switch (step.kind) {
    case 'messages':
      return withMessages(live, step.messages, step.isHeld)
    case 'listed':
      return withListed(live, step.events, step.isHeld)
    case 'caught-up':
      return withLatest(live, step.events)
    case 'released':
      return { ...live, rows: bounded([...live.waiting, ...live.rows]), waiting: [] }
    case 'opened':
      return { ...NO_LIVE_EVENTS, before: bounded([...live.rows, ...live.before]), skipped: live.skipped }
    case 'read':
      return { ...live, before: [], skipped: 0 }
    case 'begun':
      return NO_LIVE_EVENTS
  }
}

/** The live rows above the listed ones, each event once, with its latest outcomes. */
export function shownRows({ rows, before, told }: LiveEvents, listed: readonly ListedEvent[]): readonly ListedEvent[] {
  const byId = new Map(rows.map((event) => [eventRowId(event), event]))
  const known = new Set(listed.map(eventRowId))
  const latest = listed.map((event) => {
    const outcomes = byId.get(eventRowId(event))?.outcomes ?? told.get(event.messageId)
    return outcomes === undefined ? event : { ...event, outcomes: withOutcomes(event.outcomes, outcomes) }
  })
  const isUnlisted = (event: ListedEvent) => !known.has(eventRowId(event))
  const unread = before.filter((event) => isUnlisted(event) && !byId.has(eventRowId(event)))
  return [...rows.filter(isUnlisted), ...unread, ...latest]
}

/** A messageId may be accepted more than once. */
export function eventRowId({ messageId, sourceId, acceptedAt }: ListedEvent): string {
  return `${acceptedAt} ${sourceId} ${messageId}`
}

function withMessages(live: LiveEvents, messages: readonly TailMessage[], isHeld: boolean): LiveEvents {
  const fresh: ListedEvent[] = []
  const waiting = [...live.waiting]
  const rows = [...live.rows]
  const told = new Map(live.told)
  let skipped = live.skipped
  for (const message of messages) {
    if (message.kind === 'skipped') skipped += message.count
    else if (message.kind === 'accepted') fresh.unshift(rowOf(message))
    else if (!tellOne([fresh, waiting, rows], message)) tell(told, message)
  }
  return {
    ...live,
    rows: isHeld ? rows : bounded([...fresh, ...rows]),
    waiting: isHeld ? bounded([...fresh, ...waiting]) : waiting,
    told,
    skipped,
  }
}

function withListed(live: LiveEvents, events: readonly ListedEvent[], isHeld: boolean): LiveEvents {
  const known = new Set([...live.rows, ...live.waiting].map(eventRowId))
  const fresh = events.filter((event) => !known.has(eventRowId(event)))
  const { rows, waiting } = withLatest(live, events)
  if (isHeld) return { ...live, rows, waiting: bounded([...fresh, ...waiting]) }
  return { ...live, rows: bounded([...fresh, ...rows]), waiting }
}

function withLatest(live: LiveEvents, events: readonly ListedEvent[]): LiveEvents {
  const byId = new Map(events.map((event) => [eventRowId(event), event]))
  const latest = (row: ListedEvent) => byId.get(eventRowId(row)) ?? row
  return { ...live, rows: live.rows.map(latest), waiting: live.waiting.map(latest) }
}

function rowOf({ kind: _, ...facts }: TailMessage & { kind: 'accepted' }): ListedEvent {
  return { ...facts, outcomes: [] }
}

type OutcomeMessage = TailMessage & { kind: 'outcome' }

/** @returns whether one of the lists holds the event. */
function tellOne(lists: readonly ListedEvent[][], message: OutcomeMessage): boolean {
  for (const list of lists) {
    const at = list.findIndex(({ messageId }) => messageId === message.messageId)
    if (at === -1) continue
    const row = list[at]!
    list[at] = { ...row, outcomes: withOutcomes(row.outcomes, [outcomeOf(message)]) }
    return true
  }
  return false
}

function tell(told: Map<string, readonly EventOutcome[]>, message: OutcomeMessage): void {
  const { messageId } = message
  const outcomes = withOutcomes(told.get(messageId) ?? [], [outcomeOf(message)])
  told.delete(messageId)
  told.set(messageId, outcomes)
  if (told.size > MAX_TOLD) told.delete(told.keys().next().value!)
}

function outcomeOf({ destinationId, outcome, reason }: OutcomeMessage): EventOutcome {
  return { destinationId, outcome, reason }
}

function withOutcomes(before: readonly EventOutcome[], latest: readonly EventOutcome[]): readonly EventOutcome[] {
  const changed = new Map(latest.map((each) => [each.destinationId, each]))
  const kept = before.map((each) => {
    const now = changed.get(each.destinationId)
    changed.delete(each.destinationId)
    return now ?? each
  })
  return [...kept, ...changed.values()]
}

function bounded(rows: readonly ListedEvent[]): readonly ListedEvent[] {
  return rows.length > MAX_LIVE_ROWS ? rows.slice(0, MAX_LIVE_ROWS) : rows
}
