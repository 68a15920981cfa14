import type { RequestHistory } from '../lane/request-history.ts'
import type { DeadLetterWrite, Stage, WithVersions } from './flush.ts'

export const DEAD_LETTER_STATES = ['open', 'replaying', 'resolved', 'discarded'] as const
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number]

export interface DeadLetterRow extends DeadLetterWrite, WithVersions {
  readonly id: string
  readonly state: DeadLetterState
  /** Why it ended, where that is not plain: what it belonged to was removed, a person discarded it, a replay left it out. */
  readonly endReason: string | null
  /** When it went over to its state; of one that was never anything but open, 0. */
  readonly stateAt: number
  /** Of one that is replaying, and has an attempt behind it. */
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
  /** Of `deadAt`, ms since 1970: `from` ≤ deadAt < `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Dead letters that are alike in where, why and with which last answer they were given up. */
export interface DeadLetterGroup {
  readonly destinationId: string
  readonly stage: Stage
  readonly reason: string
  /** 0: there was no answer. */
  readonly lastStatus: number
  readonly count: number
  /** Of `deadAt`, ms since 1970. */
  readonly oldestAt: number
  readonly newestAt: number
}

/** A page of a list; `next` is the place to go on from, null where nothing is left. */
export interface DeadLetterPage {
  readonly rows: DeadLetterRow[]
  readonly next: number | null
}

export interface DeadLetterStore {
  /** Newest first. A call looks at no more than 10,000. */
  page(request: { filter: DeadLetterFilter; limit: number; before: number | null }): Promise<DeadLetterPage>
  /**
   * Groups, largest first; of a call that stops half-way (`next`) they are to be added up with those of the next call.
   *
   * @param request `before` as in `page`.
   */
  groups(request: { filter: DeadLetterFilter; before: number | null }): Promise<{
    groups: DeadLetterGroup[]
    next: number | null
  }>
  get(id: string): Promise<DeadLetterRow | undefined>
  /** Their events, as JSON; undefined for one that is gone. */
  events(ids: readonly string[]): Promise<(string | undefined)[]>
  countOpen(scope: Scope): Promise<number>
  countOpenByDestination(): Promise<[destinationId: string, count: number][]>
  /** Discards one, if it is open. @returns it as it was before; undefined if there is none with this id. */
  discard(request: { id: string; at: number }): Promise<DeadLetterRow | undefined>
  /** Gives up the oldest open ones of a destination until so many bytes are free, but only some hundred of them. */
  expire(request: { destinationId: string; bytes: number; reason: string; at: number }): Promise<{
    count: number
    bytes: number
  }>
}

/** How far the attempts of a dead letter that is replaying are. */
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
