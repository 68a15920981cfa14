import type { RecordedOutcome, Span } from '@millrace/delivery'
import type { ConnectionRules } from '@millrace/protocol'
import type { EventFilter } from './event-filter.ts'

/** How far a look back has come in a partition: what lies before this event is still to be looked at. */
export interface LookPlace {
  readonly offset: number
  readonly index: number
}

export interface ListFilter extends EventFilter {
  /** Of acceptance, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** An event that was found; what is not recorded of it at a destination may still be under way there. */
export interface FoundEvent {
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly sourceId: string
  readonly acceptedAt: number
  readonly messageId: string
  readonly type: string
  readonly name: string
  readonly userId: string | null
  readonly anonymousId: string | null
  /** Of an earlier event: it went nowhere. */
  readonly isDuplicate: boolean
  readonly recorded: readonly RecordedOutcome[]
}

export interface LookBackStart {
  readonly filter: ListFilter
  /** By partition. */
  readonly places: readonly LookPlace[]
  /** Connections, needed by a filter that asks for what became of events. */
  readonly spans: readonly Span[]
}

/** Records of a partition, from `EventLog.readBack`. */
export interface Chunk {
  readonly partition: number
  readonly frames: Uint8Array<ArrayBuffer>
  /** Nothing lies before them. */
  readonly isFirst: boolean
}

export interface Step {
  readonly found: readonly FoundEvent[]
  readonly looked: number
  /** Where the next step, or another look back, goes on. */
  readonly places: readonly LookPlace[]
  /** The partition of which records are needed to go on; undefined when there are none left, or enough was found. */
  readonly wants: number | undefined
  readonly isAtEnd: boolean
}

/** Whose events are counted, and by which rules. */
export interface CountedBy {
  readonly sourceId: string
  readonly rules: ConnectionRules
  /** Of acceptance, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from: number
  readonly to: number
}

export interface CountRequest extends CountedBy {
  readonly frames: Chunk['frames']
}

export interface CountStep {
  readonly looked: number
  /** Events that each rule decides. In front, at 0, those that no rule matches. */
  readonly decided: readonly number[]
  /** When the oldest of the records was accepted; undefined if there are none. */
  readonly oldestAt: number | undefined
}

/** The functions of the thread that looks at events; it is started with a port of `DeliveryStore.outcomePort`. */
export type EventCalls = {
  begin(start: LookBackStart): void
  /** Looks at no more than `mostLooked` events and stops at `mostFound`; then only `begin` goes on. */
  goOn(request: { chunk: Chunk | undefined; mostFound: number; mostLooked: number }): Promise<Step>
  /** Counts the events in some records. */
  count(request: CountRequest): CountStep
}
