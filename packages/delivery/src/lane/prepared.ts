import type { BatchOutcome, Judgement } from '@millrace/protocol'
import type { OutboundRequest, OutboundResult } from '../outbound/outbound-request.ts'
import type { Stage } from '../store/outcomes/flush.ts'
import type { ShownRequest } from './history/request-history.ts'

/** An event prepared for sending: its requests, and functions that mask their secrets. */
export interface ReadyRequests {
  readonly requests: readonly OutboundRequest[]
  /** Set if its request may travel with those of other events. */
  readonly part: BatchPart | undefined
  /** The request without secrets. */
  show(request: OutboundRequest): ShownRequest
  /** A text of the destination without secrets. */
  mask(text: string): string
  readonly classify: Classify | undefined
  /** Where an abort is shown. Default: delivery. */
  readonly abortStage?: Stage
  /** An aborted request does not keep the later ones from being sent; the event ends as a dead letter all the same. */
  readonly sendsAfterAbort?: true
  /** Of a part whose batch was answered with a result for each event. */
  readonly ownEnd?: OwnEnd | undefined
}

/** How one event of a batch ended. */
export interface OwnEnd {
  readonly result: Exclude<OutboundResult, { kind: 'aborted' }>
  /** Where an abort is shown. */
  readonly stage: Stage
}

/** The requests of an event, or why there are none. */
export type Prepared = ReadyRequests | { readonly stage: Stage; readonly error: string }

/** One event's share of a batch. */
export interface BatchPart {
  readonly joiner: Joiner
  /** Parts with the same joiner and key may travel together. */
  readonly key: string
  /** Maximum parts of a batch with this key; the joiner may allow fewer. */
  readonly maxEvents: number
  readonly bytes: number
}

/** Joins the requests of events into one, as the destination's type and configuration say. */
export interface Joiner {
  readonly maxEvents: number
  /** Of all parts; a larger part travels alone. */
  readonly maxBytes: number
  /** How long an event waits for others while calls are in flight. */
  readonly maxAgeMs: number
  /** Whether several events of one user may share a batch, in order: only where one answer covers all of them. */
  readonly takesManyOfOneUser: boolean
  /** @returns one request. @throws Error whose message tells why there is none. */
  join(parts: readonly ReadyRequests[]): ReadyRequests
  /** What an answer says about each event; undefined if it says the same about all. */
  readonly outcomes:
    | ((answer: Parameters<Classify>[0], parts: readonly ReadyRequests[]) => readonly BatchOutcome[] | undefined)
    | undefined
}

/** Classifies answers that the status alone does not classify correctly (contracts/destinations.md §7). */
export type Classify = (answer: {
  status: number
  headers: Record<string, string>
  body: unknown
}) => Judgement | undefined
