import type { RecordedOutcome, Span } from '@millrace/delivery'
import type { ConnectionRules } from '@millrace/protocol'
import type { EventFilter } from './event-filter.ts'

/** The place of a search in a partition: events before it are not searched yet. */
export interface LookPlace {
  readonly offset: number
  readonly index: number
}

export interface ListFilter extends EventFilter {
  /** Range of the acceptance time, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** An event that was found; if a destination has no record of it, it may still be in progress there. */
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
  /** Duplicate of an earlier event: no destination gets it. */
  readonly isDuplicate: boolean
  readonly recorded: readonly RecordedOutcome[]
}

export interface LookBackStart {
  readonly filter: ListFilter
  /** By partition. */
  readonly places: readonly LookPlace[]
  /** Connections, for a filter by outcome. */
  readonly spans: readonly Span[]
}

/** Records of a partition, from `EventLog.readBack`. */
export interface Chunk {
  readonly partition: number
  readonly frames: Uint8Array<ArrayBuffer>
  /** Whether these are the first records of the partition. */
  readonly isFirst: boolean
}

export interface Step {
  readonly found: readonly FoundEvent[]
  readonly looked: number
  /** Where the next step, or another search, continues. */
  readonly places: readonly LookPlace[]
  /** The partition whose records the search needs next; undefined at the end, or if it found enough. */
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
  /** Reads at most `mostLooked` events and stops at `mostFound`; after that only `begin` starts a new search. */
  goOn(request: { chunk: Chunk | undefined; mostFound: number; mostLooked: number }): Promise<Step>
  /** Counts the events in some records. */
  count(request: CountRequest): CountStep
}
