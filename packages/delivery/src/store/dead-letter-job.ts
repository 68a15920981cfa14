import type { RequestHistory } from '../delivery-history.ts'
import type { DeadLetterFilter, DeadLetterRow, DeadLetterWrite, JourneyWrite } from './calls.ts'
import type { DROPPED, FilterReason } from './outcome-block.ts'

export const JOB_STATES = ['queued', 'running', 'paused', 'done', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]
export type JobKind = 'replay' | 'discard'

/** Which open dead letters a job is for. */
export type LetterSelection = { readonly ids: readonly string[] } | { readonly filter: Omit<DeadLetterFilter, 'state'> }

export interface NewDeadLetterJob {
  readonly id: string
  readonly kind: JobKind
  /** It only counts. */
  readonly isDryRun: boolean
  readonly selection: LetterSelection
  /** Dead letters of other destinations are left out. */
  readonly destinationIds: readonly string[]
  readonly createdBy: string
  readonly at: number
}

/**
 * Work on many dead letters, one part for each destination, so that a destination that takes long holds nobody else up.
 *
 *   queued → running ⇄ paused        a paused one takes up no more; what it has taken up goes on
 *   running → done                   every part is at its end, and nothing that was taken up is under way
 *   queued, running, paused → cancelled
 *
 * What has been taken up, the counts and the place in each part are written together, so a restart goes on from there.
 */
export interface DeadLetterJob {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly isDryRun: boolean
  readonly filter: Omit<DeadLetterFilter, 'state'> | null
  /** Null until counted. */
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  readonly deadLettered: number
  readonly discarded: number
  /** Its parts, and whether each is at its end. */
  readonly parts: readonly { readonly destinationId: string; readonly isAtEnd: boolean }[]
  readonly createdBy: string
  readonly createdAt: number
  readonly finishedAt: number | null
}

/** A place in a part of a job; empty at its beginning. */
export type PartPlace = readonly number[]

/** How far the attempts of a dead letter that is replaying are. */
export interface ReplayWait {
  readonly attempts: number
  readonly deliveredRequests: number
  readonly firstAttemptAt: number | null
  readonly dueAt: number | null
  readonly requests: readonly RequestHistory[] | null
  readonly at: number
}

/** What becomes of a dead letter that is replaying. One that is in another state by now stays as it is. */
export type ReplayedWrite = { readonly letterId: string } & (
  | { readonly kind: 'journey'; readonly journey: JourneyWrite }
  | { readonly kind: 'dead_letter'; readonly letter: DeadLetterWrite }
  | {
      readonly kind: 'left_out'
      readonly reason: FilterReason | typeof DROPPED
      readonly at: number
      readonly revision: number
    }
)

/** The calls of jobs; all of them are whole on disk when they are answered. */
export type DeadLetterJobCalls = {
  /** Discards one, if it is open. @returns the state that it was in; undefined if there is none with this id. */
  discardLetter(request: { id: string; at: number }): DeadLetterRow | undefined
  createJob(job: NewDeadLetterJob): DeadLetterJob
  /** Makes a job of one dead letter, if it is open, and takes it up. @returns it as it was before. */
  replayLetter(request: {
    letterId: string
    jobId: string
    createdBy: string
    at: number
  }): { letter: DeadLetterRow; job: DeadLetterJob | undefined } | undefined
  job(id: string): DeadLetterJob | undefined
  jobs(request: { limit: number; before: number | null }): { jobs: DeadLetterJob[]; next: number | null }
  /** Oldest first. */
  unfinishedJobs(nothing: undefined): DeadLetterJob[]
  /** Goes over to a state, if it is in one of these. @returns the job as it is then; undefined if there is none. */
  changeJob(request: {
    id: string
    from: readonly JobState[]
    to: JobState
    at: number
  }): { job: DeadLetterJob; isChanged: boolean } | undefined
  /** Counts on in a part. @returns where it got to; null at the end. */
  countLetters(request: { jobId: string; destinationId: string; after: PartPlace }): {
    count: number
    next: PartPlace | null
  }
  setMatched(request: { jobId: string; matched: number }): void
  /** Discards the next ones of a part. */
  discardLetters(request: { jobId: string; destinationId: string; limit: number; at: number }): {
    count: number
    isAtEnd: boolean
  }
  /** Takes up the next ones of a part: they are replaying from here on. */
  takeLetters(request: { jobId: string; destinationId: string; limit: number; at: number }): {
    letters: DeadLetterRow[]
    isAtEnd: boolean
  }
  /** Those of a job that are replaying, in the order of their places. */
  replayingLetters(jobId: string): DeadLetterRow[]
  /** Events of dead letters, as JSON; undefined for one that is gone. */
  letterEvents(ids: readonly string[]): (string | undefined)[]
  /** Cancels a job, if it is unfinished; what is replaying for it is open again. */
  cancelJob(request: { id: string; at: number }): { job: DeadLetterJob; isChanged: boolean } | undefined
  /** Opens what is replaying without an unfinished job. */
  reopenForgotten(nothing: undefined): void
}
