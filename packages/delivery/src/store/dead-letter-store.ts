import type { RequestHistory } from '../lane/history/request-history.ts'
import type { DeadLetterWrite, Stage, WithVersions } from './outcomes/flush.ts'

export const DEAD_LETTER_STATES = ['open', 'replaying', 'resolved', 'discarded'] as const
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number]

export interface DeadLetterRow extends DeadLetterWrite, WithVersions {
  readonly id: string
  readonly state: DeadLetterState
  /**
   * Why the dead letter ended, if the state does not show it: its destination, connection or source was removed, a
   * person discarded it, or a replay filtered it.
   */
  readonly endReason: string | null
  /** Time of the last change of state; 0 for a dead letter that was always open. */
  readonly stateAt: number
  /** Only for a dead letter whose replay has made an attempt. */
  readonly wait: ReplayWait | null
}

export interface DeadLetterFilter {
  readonly destinationId?: string | undefined
  readonly sourceId?: string | undefined
  readonly stage?: string | undefined
  readonly reason?: string | undefined
  readonly state?: string | undefined
  readonly userId?: string | undefined
  readonly messageId?: string | undefined
  /** Range of `deadAt`, ms since 1970: `from` ≤ deadAt < `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Dead letters that share destination, source, stage, reason and last answer. */
export interface DeadLetterGroup {
  readonly destinationId: string
  readonly stage: Stage
  readonly reason: string
  /** 0 means no answer. */
  readonly lastStatus: number
  readonly count: number
  /** Values of `deadAt`, ms since 1970. */
  readonly oldestAt: number
  readonly newestAt: number
}

/** A page of a list; `next` is the place of the next page, null at the end. */
export interface DeadLetterPage {
  readonly rows: DeadLetterRow[]
  readonly next: number | null
}

export interface DeadLetterStore {
  /** Newest first. A call reads at most 10,000. */
  page(request: { filter: DeadLetterFilter; limit: number; before: number | null }): Promise<DeadLetterPage>
  /**
   * Groups, largest first. If a call stops half-way (`next`), the caller adds its groups to those of the next call.
   *
   * @param request `before` as in `page`.
   */
  groups(request: { filter: DeadLetterFilter; before: number | null }): Promise<{
    groups: DeadLetterGroup[]
    next: number | null
  }>
  get(id: string): Promise<DeadLetterRow | undefined>
  /** Their events, as JSON; undefined for a dead letter that no longer exists. */
  events(ids: readonly string[]): Promise<(string | undefined)[]>
  countOpen(scope: Scope): Promise<number>
  countOpenByDestination(): Promise<[destinationId: string, count: number][]>
  /**
   * Discards an open dead letter; any process may do it, because no lane holds an open one. @returns its state before the
   * call; undefined if the id is unknown.
   */
  discard(request: { id: string; at: number }): Promise<DeadLetterRow | undefined>
  /**
   * Gives up the oldest open dead letters of a destination in some partitions until the given bytes are free; a call ends
   * at most some hundred.
   */
  expire(request: {
    destinationId: string
    partitions: readonly number[]
    bytes: number
    reason: string
    at: number
  }): Promise<{
    count: number
    bytes: number
  }>
}

/** Progress of a replayed dead letter's attempts. */
export interface ReplayWait {
  readonly attempts: number
  readonly deliveredRequests: number
  readonly firstAttemptAt: number | null
  readonly dueAt: number | null
  readonly requests: readonly RequestHistory[] | null
  readonly at: number
}

export interface Scope {
  readonly destinationId?: string | undefined
  readonly sourceId?: string | undefined
}
